"""Facts of ATA drives from SMART attributes and device statistics, by family rules."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from writeamp.drives.counters.amounts import LBA, Counter
from writeamp.drives.counters.ata_checks import checks_of_attributes, with_agreeing_flash
from writeamp.drives.counters.ata_drive import AtaDrive, used_life
from writeamp.drives.counters.checks import (
    against_standard,
    is_attribute_wrapped,
    is_contradicted,
    is_wrapped,
    snapped_unit,
)
from writeamp.drives.counters.facts import ROTATES, CounterFacts, Erases, StandardCount
from writeamp.drives.counters.families import AttributeRule, EraseRule, Family, Stated, family_of
from writeamp.drives.counters.pairing import standard_counter
from writeamp.text import hashed_serial

_WORD = 1 << 16
# Values of a counter that was reset or is missing, so they are not counts.
_RESET = frozenset({0, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFFFFFF})
# Limits of plausible hours, and of erases of a block. Larger raw values have several numbers packed
# into them, so they are not used.
_MOST_HOURS = 40 * 8766
_MOST_ERASES = 1_000_000
# The SMART attribute may be updated late. It may lag behind device statistics by 1/200 of the bytes
# written, but at most by 256 MiB.
_LATE_PART = 200
_LATE_BYTES = 2**28


def ata_facts(drive: AtaDrive, stated: Stated) -> CounterFacts:
    """Return the facts (identity, counters and wear) of an ATA drive."""
    drive = replace(drive, model=drive.model or stated.model)
    facts = CounterFacts(
        source=drive.source,
        model=drive.model,
        firmware=drive.firmware,
        serial=hashed_serial(drive.serial),
        taken_at=drive.taken_at,
        local_time=drive.local_time,
        power_on_hours=_hours(drive.power_on_hours),
        capacity_bytes=drive.capacity_bytes,
        raws=tuple(
            (f"attribute {number}", attribute.raw) for number, attribute in drive.attributes.items()
        ),
    )
    if drive.is_rotating:
        return replace(facts, notes=(ROTATES,))
    if drive.attributes and not any(attribute.raw for attribute in drive.attributes.values()):
        note = "all attributes are 0, power-on hours too: the drive did not report its attributes"
        return replace(facts, notes=(note,))
    family = family_of(drive.model, drive.family, drive.firmware, drive.attributes, stated.families)
    used = used_life(drive, family, facts.power_on_hours)
    facts = replace(facts, percentage_used=used.percent, used_label=used.label)
    if family is not None:
        facts = _by_family(facts, drive, family)
    else:
        facts = replace(facts, notes=(_unknown_family(drive),))
    facts = with_agreeing_flash(_with_statistics(facts, drive))
    return replace(facts, checks=(*facts.checks, *checks_of_attributes(facts, drive, family)))


def _hours(hours: float | None) -> float | None:
    return hours if hours is not None and hours <= _MOST_HOURS else None


def _unknown_family(drive: AtaDrive) -> str:
    counting = [
        number
        for number in (225, 233, 241, 243, 245, 246, 247, 248, 249)
        if number in drive.attributes
    ]
    hint = f"; the drive has the attributes {', '.join(map(str, counting))}" if counting else ""
    if drive.model is None:
        return (
            "the file does not name the drive's model, which determines the units of its "
            "attributes. `smartctl "
            f"-x` prints it in its first lines; or pass --model{hint}"
        )
    return (
        f"no drive family of writeamp's table matches the model {drive.model}, so the units of "
        "its attributes "
        f"are unknown{hint}. Measure a unit with `writeamp measure calibrate`, or pass a file with "
        "its family by --families"
    )


def _by_family(facts: CounterFacts, drive: AtaDrive, family: Family) -> CounterFacts:
    counters = [counter for rule in family.writes if (counter := _counter(rule, drive)) is not None]
    notes = [family.note] if family.note else []
    has_flash_rule = any(rule.side == "flash" for rule in family.writes)
    if has_flash_rule and not any(counter.side == "flash" for counter in counters):
        ids = [
            attribute for rule in family.writes if rule.side == "flash" for attribute in rule.ids
        ]
        unread = ", ".join(str(attribute) for attribute in ids if attribute in drive.unread)
        notes.append(
            f"the raw value of attribute {unread} may hold several numbers, so it is not used"
            if unread
            else f"{family.name}: the flash write counter (attribute "
            f"{', '.join(map(str, ids))}) is missing"
        )
    elif not has_flash_rule and not notes:
        notes.append(f"{family.name}: no attribute counts flash writes")
    notes += [
        f"attribute {number} ({drive.attributes[number].name or 'without a name'}) is "
        f"{drive.attributes[number].raw:,} in an unknown unit or scale"
        for number in family.seen
        if number in drive.attributes
    ]
    return replace(
        facts,
        erases=tuple(
            erases for rule in family.erases if (erases := _erases(rule, drive)) is not None
        ),
        counters=tuple(counters),
        compresses=family.compresses,
        has_partial_flash=family.has_partial_flash,
        estimates=family.estimates,
        reports_wa=any(attribute in drive.attributes for attribute in family.reports),
        family=family.name,
        refusal=family.refusal,
        notes=tuple(notes),
        evidence={
            f"attribute {number}": drive.attributes[number].name
            for number in dict.fromkeys(
                [*(number for rule in family.writes for number in rule.ids), *family.seen]
            )
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
    mean = {"plain": raw, "second 16": raw // _WORD % _WORD}[rule.packed]
    most = drive.attributes[rule.most].raw if rule.most in drive.attributes else None
    if mean in _RESET or mean > _MOST_ERASES:
        return None
    return Erases(mean, mean + 1, most, f"attribute {rule.id}", rule.part)


def _with_statistics(facts: CounterFacts, drive: AtaDrive) -> CounterFacts:
    """Return facts with the host counter of device statistics, if it is plausible."""
    sectors = drive.logical_sectors_written
    if not sectors:
        return facts
    host = next(
        (counter for counter in facts.counters if (counter.side, counter.part) == ("host", "all")),
        None,
    )
    standard = standard_counter(sectors, drive.sector_bytes, "device statistics")
    if host is None:
        return replace(facts, counters=(standard, *facts.counters))
    comparison = StandardCount(host, sectors, drive.sector_bytes)
    if host.unit is None:
        return _calibrated(facts, host, standard, comparison)
    return _compared(replace(facts, standard=comparison), host, standard, comparison)


def _compared(
    facts: CounterFacts, host: Counter, standard: Counter, comparison: StandardCount
) -> CounterFacts:
    """Return facts after comparing the host attribute with device statistics.

    If they agree and the attribute is coarser than a sector, the counter of device statistics is
    added. If the attribute has wrapped, that counter replaces it. If they contradict each other,
    the facts get a refusal.
    """
    if is_attribute_wrapped(comparison):
        others = (counter for counter in facts.counters if counter is not host)
        return replace(facts, counters=(standard, *others))
    check = against_standard(comparison)
    if host.unit is LBA or is_wrapped(comparison):
        return facts
    if check.verdict == "ok":
        return replace(facts, counters=(standard, *facts.counters))
    refusal = (
        "the attribute of host writes and device statistics contradict each other: "
        f"{check.evidence}"
        if is_contradicted(comparison)
        else ""
    )
    return replace(facts, refusal=facts.refusal or refusal)


def _calibrated(
    facts: CounterFacts, host: Counter, standard: Counter, comparison: StandardCount
) -> CounterFacts:
    """Return facts with the unit of the host attribute, determined from device statistics.

    If no unit or several units fit, the counter of device statistics is added instead.
    """
    size = Fraction(comparison.logical_sectors * comparison.sector_bytes)
    unit = snapped_unit(host, size, slack=min(int(size) // _LATE_PART, _LATE_BYTES))
    calibrated = replace(host, unit=unit) if unit else host
    counters = tuple(calibrated if counter is host else counter for counter in facts.counters)
    return replace(
        facts,
        counters=counters if unit else (standard, *counters),
        standard=comparison._replace(counter=calibrated),
    )
