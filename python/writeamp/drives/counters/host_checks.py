"""Checks of the host's counter against the standard log that counts the same."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from writeamp.drives.counters.amounts import UNITS, Counter, Unit
from writeamp.drives.counters.facts import Comparison, Facts
from writeamp.drives.counters.pairing import Amounts
from writeamp.drives.counters.verdicts import Check

_WRAP = 1 << 32
# The logs are read one after the other, and drives bring them up to date at different times.
_SLACK_BYTES = 2**28


def host_checks(facts: Facts, amounts: Amounts, *, is_life: bool) -> Iterator[Check]:
    """Yield the check of device statistics against the host's attribute."""
    if facts.standard is not None and is_life:
        yield against_standard(facts.standard)


def is_wrapped(standard: Comparison) -> bool:
    """Return whether the standard log holds the attribute's sectors modulo 2**32."""
    counter, sectors, sector_bytes = standard
    if counter.unit is None or sectors >= _WRAP:
        return False
    low, high = (one / sector_bytes for one in _bounds(counter))
    if high < _WRAP or high - low >= _WRAP:
        return False
    wraps = (high - sectors) // _WRAP
    return wraps > 0 and low <= sectors + wraps * _WRAP <= high


def is_attribute_wrapped(standard: Comparison) -> bool:
    """Return whether the attribute holds the standard log's sectors modulo 2**32."""
    counter, sectors, sector_bytes = standard
    if counter.unit is None or counter.count >= _WRAP or sectors < _WRAP:
        return False
    low, high = (one / counter.unit.nominal for one in _bounds(counter))
    unwrapped = sectors * sector_bytes / counter.unit.nominal
    wraps = (unwrapped - low) // _WRAP
    return wraps > 0 and low <= unwrapped - wraps * _WRAP <= high


def is_contradicted(standard: Comparison) -> bool:
    """Return whether the attribute and the standard log are too far apart for late updates."""
    counter, sectors, sector_bytes = standard
    low, high = _bounds(counter)
    size = Fraction(sectors * sector_bytes)
    return not low * Fraction(99, 100) <= size <= high * Fraction(101, 100)


def _bounds(counter: Counter) -> tuple[Fraction, Fraction]:
    amount = counter.amount()
    unit = counter.unit.nominal if counter.unit is not None else Fraction(0)
    slack = max(unit, Fraction(_SLACK_BYTES))
    return amount.low - slack, amount.high + slack


def against_standard(standard: Comparison) -> Check:
    """Return the check of an attribute against device statistics."""
    name = "device statistics"
    counter, sectors, sector_bytes = standard
    standard_bytes = sectors * sector_bytes
    said = f"logical sectors written are {standard_bytes / 1e12:.6g} TB"
    if counter.unit is None:
        return Check(name, "unknown", f"{said}; the unit of {counter.label} is unknown")
    low, high = _bounds(counter)
    if low <= standard_bytes <= high:
        return Check(name, "ok", f"{said}, as {counter.label} in units of {counter.unit.name}")
    if is_wrapped(standard):
        return Check(name, "ok", f"{said}, which is {counter.label} modulo 2^32 sectors")
    if is_attribute_wrapped(standard):
        return Check(name, "doubt", f"{said}, of which {counter.label} is the rest modulo 2^32")
    fitting = snapped_unit(counter, standard_bytes)
    other = f"; it would fit in units of {fitting.name}" if fitting else ""
    return Check(
        name,
        "doubt",
        f"{said}, and {counter.label} in units of {counter.unit.name} are "
        f"{float(counter.amount().nominal) / 1e12:.6g} TB{other}",
    )


def snapped_unit(counter: Counter, size_bytes: int | Fraction, slack: int = 0) -> Unit | None:
    """Return the known unit in which a count is so many bytes; None if not exactly one is.

    Args:
        counter: its count.
        size_bytes: what was written.
        slack: bytes by which the size may be off.
    """
    size = Fraction(size_bytes)
    fitting = [
        unit
        for unit in UNITS.values()
        if unit.low == unit.high
        and (counter.count - 1) * unit.low - slack <= size <= (counter.count + 1) * unit.low + slack
    ]
    return fitting[0] if len(fitting) == 1 else None
