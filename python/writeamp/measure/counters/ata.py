"""Facts of ATA drives from attributes and device statistics, by the rules of their family."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from writeamp.measure.counters.amounts import LBA, Counter
from writeamp.measure.counters.facts import Comparison, Erases, Facts, hashed_serial
from writeamp.measure.counters.families import AttributeRule, EraseRule, Family, family_of
from writeamp.measure.counters.host_checks import against_standard, is_wrapped, snapped_unit
from writeamp.measure.counters.pairing import standard_counter

_WORD = 1 << 16
_WHOLE_PERCENT = 100
# What drives report whose counter was reset, or that have none.
_RESET = frozenset({0, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFFFFFF})


class Attribute(NamedTuple):
    """An attribute: its raw value, its normalized value, and the name that the host gives it."""

    raw: int
    normalized: int | None
    name: str


@dataclass(frozen=True)
class AtaDrive:
    """Values that smartctl prints of an ATA drive, in whatever form.

    Attributes:
        source: name of the source.
        model, family, firmware, serial: as printed; the family is the host's smartctl's.
        attributes: by identity.
        capacity_bytes, sector_bytes: of the drive.
        logical_sectors_written, statistics_used: of device statistics (pages 1 and 7).
        power_on_hours, taken_at: in hours, and in seconds since 1970.
        is_rotating: it is a hard disk.
    """

    source: str
    model: str | None = None
    family: str | None = None
    firmware: str | None = None
    serial: str | None = None
    attributes: Mapping[int, Attribute] = field(default_factory=dict)
    capacity_bytes: int | None = None
    sector_bytes: int = 512
    logical_sectors_written: int | None = None
    statistics_used: float | None = None
    power_on_hours: float | None = None
    taken_at: float | None = None
    is_rotating: bool = False


def ata_facts(drive: AtaDrive) -> Facts:
    """Return the facts of an ATA drive."""
    facts = Facts(
        source=drive.source,
        model=drive.model,
        firmware=drive.firmware,
        serial=hashed_serial(drive.serial),
        taken_at=drive.taken_at,
        power_on_hours=drive.power_on_hours,
        capacity_bytes=drive.capacity_bytes,
        percentage_used=drive.statistics_used,
        used_label="device statistics, percentage used"
        if drive.statistics_used is not None
        else "",
    )
    if drive.is_rotating:
        return replace(facts, notes=("the drive rotates: a hard disk has no write amplification",))
    family = family_of(drive.model, drive.family, drive.firmware)
    if family is not None:
        facts = _by_family(facts, drive, family)
    else:
        facts = replace(facts, notes=(_unknown_family(drive),))
    return _with_statistics(facts, drive)


def _unknown_family(drive: AtaDrive) -> str:
    counting = [
        number
        for number in (225, 233, 241, 243, 245, 246, 247, 248, 249)
        if number in drive.attributes
    ]
    seen = f"; it has the attributes {', '.join(map(str, counting))}" if counting else ""
    return (
        f"no family in the table has the model {drive.model or 'that the file does not say'}, and "
        f"the units of its attributes are unknown{seen}. `writeamp measure calibrate` learns a "
        "unit by writing a known amount"
    )


def _by_family(facts: Facts, drive: AtaDrive, family: Family) -> Facts:
    counters = [found for rule in family.writes if (found := _counter(rule, drive)) is not None]
    used, label = facts.percentage_used, facts.used_label
    if family.life is not None and family.life.id in drive.attributes:
        read = _life(family.life.holds, drive.attributes[family.life.id])
        if read is not None:
            used, label = read, f"attribute {family.life.id}, {family.life.holds}"
    notes = [family.note] if family.note else []
    has_flash_rule = any(rule.side == "flash" for rule in family.writes)
    if has_flash_rule and not any(one.side == "flash" for one in counters):
        ids = ", ".join(
            str(one) for rule in family.writes if rule.side == "flash" for one in rule.ids
        )
        notes.append(
            f"{family.name}: this drive has no attribute {ids} with a count of flash writes"
        )
    elif not has_flash_rule and not notes:
        notes.append(f"{family.name}: no attribute counts flash writes")
    return replace(
        facts,
        percentage_used=used,
        used_label=label,
        erases=tuple(
            erases for rule in family.erases if (erases := _erases(rule, drive)) is not None
        ),
        counters=tuple(counters),
        compresses=family.compresses,
        has_partial_flash=family.has_partial_flash,
        estimates=family.estimates,
        family=family.name,
        refusal=family.refusal,
        notes=tuple(notes),
        evidence={
            f"attribute {number}": drive.attributes[number].name
            for rule in family.writes
            for number in rule.ids
            if number in drive.attributes
        },
    )


def _counter(rule: AttributeRule, drive: AtaDrive) -> Counter | None:
    for number in rule.ids:
        if number not in drive.attributes:
            continue
        count = drive.attributes[number].raw
        label = f"attribute {number}"
        if rule.high:
            if rule.high not in drive.attributes:
                continue
            count |= drive.attributes[rule.high].raw << 32
            label = f"attribute {rule.high} << 32 | {number}"
        if count in _RESET:
            continue
        return Counter(
            rule.side,
            count,
            rule.unit,
            label,
            "SMART attributes",
            part=rule.part,
            shared=rule.shared,
            bits=rule.bits,
        )
    return None


def _erases(rule: EraseRule, drive: AtaDrive) -> Erases | None:
    if rule.id not in drive.attributes:
        return None
    raw = drive.attributes[rule.id].raw
    mean = {"plain": raw, "low 16": raw % _WORD, "second 16": raw // _WORD % _WORD}[rule.packed]
    most = drive.attributes[rule.most].raw if rule.most in drive.attributes else None
    if mean in _RESET:
        return None
    return Erases(mean, mean + 1, most, f"attribute {rule.id}", rule.part)


def _life(holds: str, attribute: Attribute) -> float | None:
    """Return the per cent of the rated life that are used."""
    value = attribute.raw if holds.startswith("raw") else attribute.normalized
    if value is None or not 0 <= value <= 255:
        return None
    return float(value if holds.endswith("used") else max(_WHOLE_PERCENT - value, 0))


def _with_statistics(facts: Facts, drive: AtaDrive) -> Facts:
    """Return facts with the host's counter of device statistics, where it may be believed."""
    sectors = drive.logical_sectors_written
    if not sectors:
        return facts
    host = next((one for one in facts.counters if (one.side, one.part) == ("host", "all")), None)
    standard = standard_counter(sectors, drive.sector_bytes, "device statistics")
    if host is None:
        return replace(facts, counters=(standard, *facts.counters))
    if host.unit is None:
        unit = snapped_unit(host, sectors * drive.sector_bytes)
        calibrated = replace(host, unit=unit) if unit else host
        facts = replace(
            facts,
            counters=tuple(calibrated if one is host else one for one in facts.counters),
            standard=Comparison(calibrated, sectors, drive.sector_bytes),
        )
        return facts if unit else replace(facts, counters=(standard, *facts.counters))
    comparison = Comparison(host, sectors, drive.sector_bytes)
    facts = replace(facts, standard=comparison)
    if is_wrapped(comparison) or host.unit is LBA:
        return facts
    if against_standard(comparison).verdict == "ok":
        return replace(facts, counters=(standard, *facts.counters))
    return replace(
        facts,
        refusal=facts.refusal
        or f"the host's counter and device statistics contradict each other: "
        f"{against_standard(comparison).evidence}",
    )
