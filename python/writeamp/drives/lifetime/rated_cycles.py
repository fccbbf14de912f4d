"""Rated program/erase cycles of flash: those of a profile, or of its kind of cell.

Ranges are of data sheets and teardowns of recent years. Few products say what their flash is rated
for, so the range dominates most answers until the cycles are given.
"""

from __future__ import annotations

from typing import NamedTuple

from writeamp.devices.profile import profile


class RatedCycles(NamedTuple):
    """Cycles that blocks are rated for, with the bounds of what is usual; and what says so."""

    low: int
    usual: int
    high: int
    source: str


# By a word of a profile's summary; the special before the general.
_BY_CELL = {
    "QLC": (600, 1000, 1500),
    "TLC": (1500, 3000, 7000),
    "MLC": (3000, 5000, 10_000),
    "SLC": (50_000, 100_000, 100_000),
}


def rated_cycles(device: str, given: int | None) -> RatedCycles:
    """Return the cycles of a device: those given, those of its profile, or what is usual.

    The bounds are those of its kind of cell, since a profile's number is seldom a vendor's promise.
    """
    if given is not None:
        return RatedCycles(given, given, given, "as given")
    found = profile(device)
    cell = next((name for name in _BY_CELL if name in found.summary), "TLC")
    low, usual, high = _BY_CELL[cell]
    stated = found.shape.rated_erases
    if stated is None:
        return RatedCycles(low, usual, high, f"usual of {cell}")
    return RatedCycles(min(low, stated), stated, max(high, stated), f"the profile; usual of {cell}")
