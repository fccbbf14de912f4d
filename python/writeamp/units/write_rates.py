"""Rates of writing a day and a year."""

from __future__ import annotations

_DAY_S, _YEAR_S = 86_400.0, 365.25 * 86_400.0


def gb_a_day(count: int, seconds: float) -> float:
    """Return GB (10**9 bytes) a day of a number of bytes that are written in each such period."""
    return count / seconds * _DAY_S / 1e9


def tb_a_year(count: int, seconds: float) -> float:
    """Return TB (10**12 bytes) a year of a number of bytes that are written in each such period.

    >>> round(tb_a_year(10**9, 3600), 3)
    8.766
    """
    return count / seconds * _YEAR_S / 1e12
