"""Counters of a drive in units that may be coarse or unsure, and the bytes they stand for."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, NamedTuple, TypeAlias

from writeamp.vssd.log_pages.smart import DATA_UNIT_BYTES

Side: TypeAlias = Literal["host", "flash"]
# What flash counters count: all programs, those of a kind of cell, or pages by their cause.
Part: TypeAlias = Literal["all", "tlc", "slc", "host pages", "background pages"]
# Up: the true amount is in (count - 1, count]. Down: [count, count + 1). Unknown: either.
Rounding: TypeAlias = Literal["up", "down", "exact", "unknown"]
# How far the true amount may be from the count, in units.
_SLACK = {"up": (-1, 0), "down": (0, 1), "exact": (0, 0), "unknown": (-1, 1)}


class Amount(NamedTuple):
    """Bytes (or units, where their size is unknown), with the bounds of what they may be."""

    low: Fraction
    nominal: Fraction
    high: Fraction

    def __add__(self, other: object) -> Amount:
        """Return the sum of two amounts."""
        assert isinstance(other, Amount)
        return Amount(*(a + b for a, b in zip(self, other, strict=True)))


class Unit(NamedTuple):
    """Size in bytes of one count; `low` and `high` differ where its name does not settle it."""

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
    one.name: one
    for one in (
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
        # Attributes called GB count either.
        Unit("GB or GiB", Fraction(2**30), Fraction(10**9), Fraction(2**30)),
    )
}


@dataclass(frozen=True)
class Counter:
    """A counter of a drive as a source prints it.

    Attributes:
        side: what wrote: the host, or all that was programmed into the flash.
        count: the count, since the drive was new.
        unit: size of one count; None if unknown.
        label: where it stands, for evidence: "attribute 241", "OCP log 0xC0".
        source: the source of the file; counters of one source are read at one moment.
        part: what it counts of the flash.
        rounding: of the true amount.
        shared: name of the unknown unit that the counters of a source have in common; "" of none.
        scope: what is counted: the drive, or an endurance group or namespace by its name.
        count_high: the count when it was read again after the others, if it was.
        bits: the counter's width if it wraps; 0 if it does not.
    """

    side: Side
    count: int
    unit: Unit | None
    label: str
    source: str
    part: Part = "all"
    rounding: Rounding = "unknown"
    shared: str = ""
    scope: str = "drive"
    count_high: int | None = None
    bits: int = 0

    @property
    def key(self) -> tuple[str, ...]:
        """The identity of the counter, which it keeps from one snapshot to the next."""
        return (self.side, self.part, self.source, self.scope, self.label)

    def amount(self) -> Amount:
        """Return the bytes since the drive was new; of an unknown unit, the counts."""
        low, high = _SLACK[self.rounding]
        last = self.count if self.count_high is None else self.count_high
        return _in_bytes(
            self.unit,
            Fraction(max(self.count + low, 0)),
            Fraction(self.count + last, 2),
            Fraction(last + high),
        )

    def since(self, before: Counter) -> Amount:
        """Return the bytes from an earlier snapshot's counter to this one; one wrap is undone."""
        wrap = 1 << self.bits if self.bits and self.count < before.count else 0
        slack = 0 if self.rounding == "exact" else 1
        first_high = before.count if before.count_high is None else before.count_high
        last = self.count if self.count_high is None else self.count_high
        return _in_bytes(
            self.unit,
            Fraction(max(self.count + wrap - first_high - slack, 0)),
            Fraction(self.count + last, 2) + wrap - Fraction(before.count + first_high, 2),
            Fraction(last + wrap - before.count + slack),
        )


def _in_bytes(unit: Unit | None, low: Fraction, nominal: Fraction, high: Fraction) -> Amount:
    if unit is None:
        return Amount(low, nominal, high)
    return Amount(low * unit.low, nominal * unit.nominal, high * unit.high)
