"""Consistency checks of an ATA drive's attributes, and of their names in smartctl."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from writeamp.drives.counters.amounts import Amount, Counter
from writeamp.drives.counters.ata_drive import POINTS, AtaDrive, used_life
from writeamp.drives.counters.checks import against_standard
from writeamp.drives.counters.facts import CounterCheck, CounterFacts
from writeamp.drives.counters.families import Family

# Valid units of an attribute whose name has one of these words. "GB" in a name may mean GB or GiB.
_NAMED_UNITS = {
    "32MIB": {"32 MiB"},
    "16MIB": {"16 MiB"},
    "MIB": {"1 MiB"},
    "GIB": {"GiB", "GB or GiB"},
    "1GIB": {"GiB", "GB or GiB"},
    "GB": {"GB", "GiB", "GB or GiB"},
    "LBA": {"512 B", "4 KiB"},
    "LBAS": {"512 B", "4 KiB"},
    "SECTOR": {"512 B", "4 KiB"},
    "SECTORS": {"512 B", "4 KiB"},
}
_WHOLE_PERCENT = 100
# Largest data rate of a SATA link. If the host wrote more, the host counter is doubtful.
_LINK_BYTES_PER_HOUR = 600_000_000 * 3600


def checks_of_attributes(
    facts: CounterFacts, drive: AtaDrive, family: Family | None
) -> Iterator[CounterCheck]:
    """Yield checks of the attributes against each other.

    Args:
        facts: facts of the drive, by its family.
        drive: values that smartctl prints.
        family: family of the drive; None if unknown.
    """
    yield from _names(facts, drive)
    yield from _used(facts, drive, family)
    yield from _link(facts)
    if family is not None:
        yield from _erased(facts, drive, family)
        yield from _twice(drive, family)
        yield from _high_words(drive, family)


def with_agreeing_flash(facts: CounterFacts) -> CounterFacts:
    """Return facts with a check of the two finest flash counters, if there are two.

    If they contradict each other, the counter with the smaller unit is left out.
    """
    counters_of_all = [
        counter
        for counter in facts.counters
        if (counter.side, counter.part) == ("flash", "all") and counter.unit
    ]
    if len(counters_of_all) < 2:
        return facts
    fine, coarse = sorted(counters_of_all, key=_step)[:2]
    low, _, high = coarse.amount()
    step = _step(coarse)
    agrees = low - step <= fine.amount().nominal <= high + step
    evidence = (
        f"{fine.label} is {_terabytes(fine.amount())}, {coarse.label} {_terabytes(coarse.amount())}"
    )
    check = CounterCheck("flash counters", "ok" if agrees else "doubt", evidence)
    counters = tuple(counter for counter in facts.counters if agrees or counter is not fine)
    return replace(facts, counters=counters, checks=(*facts.checks, check))


def _step(counter: Counter) -> float:
    return float(counter.unit.high) if counter.unit is not None else 0.0


def _terabytes(amount: Amount) -> str:
    return f"{float(amount.nominal) / 1e12:.6g} TB"


def _names(facts: CounterFacts, drive: AtaDrive) -> Iterator[CounterCheck]:
    """Yield a check of the units in attribute names, which smartctl's database provides."""
    name = "names"
    counted = [counter for counter in facts.counters if _number(counter) in drive.attributes]
    if not counted:
        return
    called = ", ".join(
        f"{counter.label} {drive.attributes[_number(counter)].name or 'without a name'}"
        for counter in counted
    )
    if drive.family is None:
        yield CounterCheck(
            name,
            "ok",
            f"{called}: default names, as smartctl did not know the drive, so they do not confirm "
            "the units",
        )
        return
    against = [
        counter
        for counter in counted
        if _contradicts(drive.attributes[_number(counter)].name, counter)
    ]
    settled = facts.standard is not None and against_standard(facts.standard).verdict == "ok"
    doubtful = [counter for counter in against if not (settled and counter.side == "host")]
    if doubtful:
        units = ", ".join(
            f"{counter.label} in {counter.unit.name if counter.unit else 'pages'}"
            for counter in doubtful
        )
        yield CounterCheck(
            name, "doubt", f"{called}; writeamp's table of drive families has {units}"
        )
    else:
        yield CounterCheck(name, "ok", called)


def _number(counter: Counter) -> int:
    """Return the attribute number of a counter; 0 if it is not an attribute."""
    match = re.match(r"attribute (?:\d+ << 32 \| )?(\d+)$", counter.label)
    return int(match[1]) if match else 0


def _contradicts(name: str, counter: Counter) -> bool:
    units = [_NAMED_UNITS[word] for word in name.upper().split("_") if word in _NAMED_UNITS]
    if not units or (counter.unit is None and "pages" not in counter.part):
        return False
    return counter.unit is None or all(counter.unit.name not in unit for unit in units)


def _used(facts: CounterFacts, drive: AtaDrive, family: Family | None) -> Iterator[CounterCheck]:
    """Yield checks of used life: of the wear attribute's value, and of device statistics.

    Some drives report the remaining life in device statistics.
    """
    standard, used = drive.statistics_used, facts.percentage_used
    name = "percentage used"
    confirmed_by = used_life(drive, family, facts.power_on_hours).confirmed_by
    rule = family.life if family is not None else None
    is_read = facts.used_label.startswith("attr") or confirmed_by
    if rule is not None and rule.id in drive.attributes and not is_read:
        attribute = drive.attributes[rule.id]
        yield CounterCheck(
            name,
            "unknown",
            f"attribute {rule.id} is {attribute.raw:,}, normalized {attribute.normalized}, which "
            f"is implausible as {rule.holds!r}",
        )
    if standard is None:
        return
    text = f"device statistics report {standard:g}% used"
    if standard >= _WHOLE_PERCENT:
        text += ": the rated life is over, unless the value is inverted"
    elif used is None:
        text += ", unless the value is inverted"
    if confirmed_by:
        yield CounterCheck(name, "ok", f"{text}; {confirmed_by}")
    elif used is None:
        yield CounterCheck(
            name, "doubt", f"{text}; neither power-on hours nor a wear attribute confirm it"
        )
    elif abs(used - standard) > POINTS:
        inverted = abs(used - (_WHOLE_PERCENT - standard)) <= POINTS
        meaning = ", so the value is the remaining life" if inverted else ""
        yield CounterCheck(
            name, "doubt", f"{text}{meaning}; {facts.used_label}, says {used:g}% used"
        )
    elif facts.used_label.startswith("attribute"):
        yield CounterCheck(name, "ok", f"{text}; {facts.used_label}, says {used:g}% used")


def _link(facts: CounterFacts) -> Iterator[CounterCheck]:
    """Yield a doubt if the host wrote more in the power-on hours than a SATA link can carry."""
    hours = facts.power_on_hours
    for counter in facts.counters:
        if counter.side != "host" or counter.unit is None or hours is None:
            continue
        written = float(counter.amount().low)
        if written > (hours + 1) * _LINK_BYTES_PER_HOUR:
            yield CounterCheck(
                "host against hours",
                "doubt",
                f"{counter.label} is {written / 1e12:.4g} TB, more than a SATA link carries in "
                f"{hours:g} hours",
            )


def _erased(facts: CounterFacts, drive: AtaDrive, family: Family) -> Iterator[CounterCheck]:
    """Yield a check that erased bytes are at least the flash bytes minus twice the capacity."""
    rule = family.erased
    if rule is None or rule.id not in drive.attributes:
        return
    raw = drive.attributes[rule.id].raw
    erased = Counter("flash", raw, rule.unit, f"attribute {rule.id}", "SMART attributes").amount()
    fresh = 2 * (facts.capacity_bytes or 0)
    for counter in facts.counters:
        if counter.side == "flash" and counter.unit is not None:
            enough = counter.amount().low <= erased.high + fresh
            yield CounterCheck(
                "erased bytes",
                "ok" if enough else "doubt",
                f"attribute {rule.id} has {_terabytes(erased)} erased, {counter.label} "
                f"{_terabytes(counter.amount())} written",
            )


def _twice(drive: AtaDrive, family: Family) -> Iterator[CounterCheck]:
    """Yield a check that attributes 225 and 241 are equal if both count host writes."""
    for rule in family.writes:
        if rule.side == "host" and set(rule.ids) == {225, 241}:
            first, second = (drive.attributes.get(attribute) for attribute in (225, 241))
            if first and second and first.raw and second.raw:
                same = abs(first.raw - second.raw) <= max(2, first.raw // 1000)
                yield CounterCheck(
                    "225 and 241",
                    "ok" if same else "doubt",
                    f"attribute 225 is {first.raw:,}, 241 is {second.raw:,}",
                )


def _high_words(drive: AtaDrive, family: Family) -> Iterator[CounterCheck]:
    for rule in family.writes:
        if rule.high in drive.attributes and drive.attributes[rule.high].raw:
            yield CounterCheck(
                "high word",
                "doubt",
                f"attribute {rule.high} is {drive.attributes[rule.high].raw:,}. It is unverified "
                "that this attribute holds the counter's bits above the lower 32",
            )
