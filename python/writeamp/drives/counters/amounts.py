"""Counters of a drive, their units (which may be ambiguous), and their amounts in bytes."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, NamedTuple, TypeAlias

from writeamp.vssd.log_pages.smart import DATA_UNIT_BYTES

Side: TypeAlias = Literal["host", "flash"]
# Content of a flash counter: all programs, the programs of one cell type (TLC or SLC), or the pages
# of one cause (host writes or background work).
FlashPart: TypeAlias = Literal["all", "tlc", "slc", "host pages", "background pages"]
# Rounding of a counter by the drive. Up: the true amount is in (count - 1, count]. Down: it is in
# [count, count + 1).
Rounding: TypeAlias = Literal["up", "down", "exact", "unknown"]
# Lower and upper limit of the true amount minus the count, in units of the counter.
_SLACK = {"up": (-1, 0), "down": (0, 1), "exact": (0, 0), "unknown": (-1, 1)}


class Amount(NamedTuple):
    """Number of bytes with its bounds; if the counter's unit is unknown, a number of counts."""

    low: Fraction
    nominal: Fraction
    high: Fraction

    def __add__(self, other: object) -> Amount:
        """Return the sum of two amounts."""
        assert isinstance(other, Amount)
        return Amount(*(a + b for a, b in zip(self, other, strict=True)))


class Unit(NamedTuple):
    """Bytes per count of a counter; `low` and `high` differ if the unit's name is ambiguous."""

    name: str
    nominal: Fraction
    low: Fraction
    high: Fraction


def _unit(name: str, size: int | Fraction) -> Unit:
    exact = Fraction(size)
    return Unit(name, exact, exact, exact)


BYTE = _unit("byte", 1)
LBA = _unit("512 B", 512)
GIB = _unit("GiB", 2**30)
MIB32 = _unit("32 MiB", 2**25)
DATA_UNIT = _unit("512,000 B", DATA_UNIT_BYTES)

UNITS = {
    unit.name: unit
    for unit in (
        BYTE,
        LBA,
        GIB,
        MIB32,
        DATA_UNIT,
        _unit("4 KiB", 2**12),
        _unit("16 KiB", 2**14),
        _unit("1 MiB", 2**20),
        _unit("16 MiB", 2**24),
        _unit("64 GiB", 2**36),
        _unit("0.1 GiB", Fraction(2**30, 10)),
        _unit("0.001 GB", 10**6),
        _unit("GB", 10**9),
        _unit("TB", 10**12),
        # Attributes named "GB" count GB in some drives and GiB in others, so the bounds include
        # both.
        Unit("GB or GiB", Fraction(2**30), Fraction(10**9), Fraction(2**30)),
    )
}


@dataclass(frozen=True)
class Counter:
    """Counter of a drive, as printed by a source.

    Attributes:
        side: "host" or "flash": origin of the counted writes.
        count: value since the drive was new.
        unit: size of one count; None if unknown.
        label: where the counter was read, for messages: "attribute 241", "OCP log 0xC0".
        source: log or table with the counter, such as "SMART attributes". All counters of one
            source are read at one moment.
        part: which programs of the flash it counts.
        rounding: how the drive rounds the true amount.
        shared: name of an unknown unit that several counters of the source share; "" if not shared.
        scope: "drive", or the name of an endurance group or namespace.
        count_high: value that was read again after the other counters, or None if it was read once.
        bits: width of the counter, which wraps at 2**bits; 0 if it does not wrap.
    """

    side: Side
    count: int
    unit: Unit | None
    label: str
    source: str
    part: FlashPart = "all"
    rounding: Rounding = "unknown"
    shared: str = ""
    scope: str = "drive"
    count_high: int | None = None
    bits: int = 0

    @property
    def key(self) -> tuple[str, ...]:
        """Identity of the counter, equal in all snapshots of a drive."""
        return (self.side, self.part, self.source, self.scope, self.label)

    def amount(self) -> Amount:
        """Return the bytes since the drive was new, or the counts if the unit is unknown."""
        low, high = _SLACK[self.rounding]
        last = self.count if self.count_high is None else self.count_high
        return _in_bytes(
            self.unit,
            Fraction(max(self.count + low, 0)),
            Fraction(self.count + last, 2),
            Fraction(last + high),
        )

    def since(self, earlier: Counter) -> Amount:
        """Return the bytes counted since an earlier snapshot; the counter may have wrapped once."""
        wrap = 1 << self.bits if self.bits and self.count < earlier.count else 0
        slack = 0 if self.rounding == "exact" else 1
        first_high = earlier.count if earlier.count_high is None else earlier.count_high
        last = self.count if self.count_high is None else self.count_high
        return _in_bytes(
            self.unit,
            Fraction(max(self.count + wrap - first_high - slack, 0)),
            Fraction(self.count + last, 2) + wrap - Fraction(earlier.count + first_high, 2),
            Fraction(last + wrap - earlier.count + slack),
        )


def _in_bytes(unit: Unit | None, low: Fraction, nominal: Fraction, high: Fraction) -> Amount:
    if unit is None:
        return Amount(low, nominal, high)
    return Amount(low * unit.low, nominal * unit.nominal, high * unit.high)
