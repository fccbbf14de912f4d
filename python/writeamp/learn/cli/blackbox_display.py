"""Display of predictions in the tables and documents of `writeamp blackbox`."""

from __future__ import annotations

import math

UNITS = {"latency": "µs", "bandwidth": "MB/s", "throughput": "requests/s", "wa": ""}


def with_unit(target: str) -> str:
    """Return a target as the heading of a column of numbers."""
    return f">{target}, {UNITS[target]}" if UNITS[target] else f">{target}"


def entry(value: float, low: float, high: float) -> dict[str, float] | None:
    """Return a prediction as an entry of a document; None where there is none."""
    return None if math.isnan(value) else {"value": value, "low": low, "high": high}
