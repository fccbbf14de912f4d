"""How the tables and documents of `writeamp blackbox` show predictions."""

from __future__ import annotations

import math

UNITS = {"latency": "µs", "bandwidth": "MB/s", "throughput": "requests/s", "wa": ""}


def with_unit(target: str) -> str:
    """Return a target as the heading of a column of numbers."""
    return f">{target}, {UNITS[target]}" if UNITS[target] else f">{target}"


def number(value: float) -> str:
    """Return a number with four digits, or all of those before its point; NaN as a dash."""
    if math.isnan(value):
        return "–"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def interval(low: float, high: float) -> str:
    """Return a prediction interval; that of nothing as a dash."""
    return "–" if math.isnan(low) else f"{number(low)} to {number(high)}"


def entry(value: float, low: float, high: float) -> dict[str, float] | None:
    """Return a prediction as an entry of a document; None where there is none."""
    return None if math.isnan(value) else {"value": value, "low": low, "high": high}
