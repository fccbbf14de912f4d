"""Bounds on what is written in a limited time, where nobody says how fast the drive is."""

from __future__ import annotations

from typing import NamedTuple

# PCIe 5.0 with four lanes carries 15.8 GB/s, and drives on PCIe 6 write no faster than that.
FASTEST_BYTES_S = 16e9
# Limits of writes that end in the page cache: copying within memory, and the memory of a server.
MEMORY_BYTES_S = 100e9
MEMORY_BYTES = 1e12
# A plan that asks for less than this is taken to be completed.
SLOWEST_BYTES_S = 100e6


class Bounds(NamedTuple):
    """The fewest and the most of something."""

    low: float
    high: float

    def times(self, factor: float) -> Bounds:
        """Return both, multiplied."""
        return Bounds(self.low * factor, self.high * factor)


UNKNOWN = Bounds(0.0, float("inf"))


def shown_speed(bytes_s: float) -> str:
    """Return a speed in words.

    >>> shown_speed(21.99e9), shown_speed(3.2e6)
    ('22 GB/s', '3.2 MB/s')
    """
    return f"{bytes_s / 1e9:.3g} GB/s" if bytes_s >= 1e9 else f"{bytes_s / 1e6:.3g} MB/s"
