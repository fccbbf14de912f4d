"""Rates of writing a day and a year."""

from __future__ import annotations

from writeamp.units.durations import DAY_S, YEAR_S


def gb_a_day(count: int, seconds: float) -> float:
    """Return GB (10**9 bytes) a day of a number of bytes that are written in each such period."""
    return count / seconds * DAY_S / 1e9


def tb_a_year(count: int, seconds: float) -> float:
    """Return TB (10**12 bytes) in 365 days of bytes that are written in each such period.

    >>> round(tb_a_year(10**9, 3600), 3)
    8.76
    """
    return count / seconds * YEAR_S / 1e12
