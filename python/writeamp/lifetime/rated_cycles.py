"""Rated program/erase cycles of flash by kind of cell, where the drive's are unknown.

Ranges of data sheets and teardowns of recent years: no profile says what its product is rated for,
and the range dominates most answers until the cycles are given.
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
    """Return the cycles of a device: those given, or what is usual of its kind of cell."""
    if given is not None:
        return RatedCycles(given, given, given, "as given")
    summary = profile(device).summary
    cell = next((name for name in _BY_CELL if name in summary), "TLC")
    return RatedCycles(*_BY_CELL[cell], f"usual of {cell}")
