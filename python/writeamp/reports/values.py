"""Typed access to the values of a document.

A document that is read back from a page may have values of any type. Each function returns a value
of its type, or None or an empty value.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from writeamp.results.numbers import four_digits

# Limit of a drawable number: larger than any quantity of a drive, and small enough to be squared
# without overflow.
_MOST = 1e60


def number(of: Mapping[str, Any], key: str) -> float | None:
    """Return a number that can be drawn, or None: finite, and without overflow in sums."""
    value = of.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not abs(value) < _MOST:
        return None
    return float(value) if abs(value) > 1 / _MOST else 0.0


def words(of: Mapping[str, Any], key: str) -> str:
    """Return a text, or ""."""
    value = of.get(key)
    return value if isinstance(value, str) else ""


def table(of: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Return a JSON object, or an empty one."""
    value = of.get(key)
    return value if isinstance(value, Mapping) else {}


def items(value: Any) -> Sequence[Any]:
    """Return a list, or the tuple that becomes one in JSON; otherwise an empty list."""
    return value if isinstance(value, list | tuple) else []


def rows(of: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    """Return the JSON objects in a list."""
    return [item for item in items(of.get(key)) if isinstance(item, Mapping)]


def texts(of: Mapping[str, Any], key: str) -> list[str]:
    """Return the texts in a list."""
    return [item for item in items(of.get(key)) if isinstance(item, str)]


def numbers(of: Mapping[str, Any], key: str) -> list[float]:
    """Return the numbers in a list; an empty list if any is not finite."""
    values = [number({"": item}, "") for item in items(of.get(key))]
    return [value for value in values if value is not None] if None not in values else []


def numbers_or_gaps(of: Mapping[str, Any], key: str) -> list[float]:
    """Return the numbers in a list, with NaN in place of other values."""
    drawable = (number({"": item}, "") for item in items(of.get(key)))
    return [math.nan if item is None else item for item in drawable]


def interval(of: Mapping[str, Any], key: str) -> tuple[float, float] | None:
    """Return a number's interval, from `key_ci95` or from `key_low` and `key_high`, or None."""
    ends = numbers(of, f"{key}_ci95")
    if len(ends) == 2:
        return ends[0], ends[1]
    low, high = number(of, f"{key}_low"), number(of, f"{key}_high")
    return None if low is None or high is None else (low, high)


def op_of_data(of: Mapping[str, Any]) -> float | None:
    """Return the effective op, which counts pages without data as spare; else the drive's op."""
    physical, held = number(of, "physical_pages"), number(of, "held_pages")
    if physical and held and 0 < held < physical:
        return (physical - held) / held
    return number(of, "op")


def shown(value: Any) -> str:
    """Return a value as text for a table."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return four_digits(value)
    if isinstance(value, int):
        return f"{value:,}" if abs(value) >= 10_000 else str(value)
    return str(value)


def with_bounds(value: float | None, bounds: Sequence[float] | None) -> str:
    """Return a number with its interval in brackets."""
    if value is None:
        return "–"
    if bounds is None:
        return four_digits(value)
    return f"{four_digits(value)} [{four_digits(bounds[0])}, {four_digits(bounds[1])}]"
