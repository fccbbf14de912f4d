"""Numbers and their intervals, in words and in JSON."""

from __future__ import annotations

import math


def with_interval(
    value: float, interval: tuple[float, float], form: str = ".4f", unknown: str = ""
) -> str:
    """Return a number with its 95% interval, or with what is said in brackets if it has none.

    >>> with_interval(1.85, (1.84, 1.86), ".2f")
    '1.85 (95% CI 1.84 to 1.86)'
    """
    within = interval_in_words(*interval, form) or unknown
    return format(value, form) + (f" ({within})" if within else "")


def interval_in_words(low: float, high: float, form: str = ".4f") -> str:
    """Return a 95% interval in words; nothing for one of NaN, which is none."""
    if math.isnan(low) or math.isnan(high):
        return ""
    return f"95% CI {low:{form}} to {high:{form}}"


def json_number(value: float | None) -> float | None:
    """Return a number as JSON has it, which has none for NaN and for what is infinite."""
    return value if value is not None and math.isfinite(value) else None


def four_digits(value: float) -> str:
    """Return a number with four digits, or all of those before its point; NaN as a dash."""
    if math.isnan(value):
        return "–"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def range_in_words(low: float, high: float) -> str:
    """Return a prediction interval with four digits; that of nothing as a dash."""
    return "–" if math.isnan(low) else f"{four_digits(low)} to {four_digits(high)}"
