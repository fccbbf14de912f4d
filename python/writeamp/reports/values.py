"""Values of a document, each of the type that is asked for or None.

A document that is read back from a page may hold anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from writeamp.results.numbers import four_digits

# Greater than any quantity of a drive; the squares of numbers beyond it would have no place.
_MOST = 1e60


def number(of: Mapping[str, Any], key: str) -> float | None:
    """Return a number that can be drawn: finite, and of a size that sums and axes can have."""
    value = of.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not abs(value) < _MOST:
        return None
    return float(value) if abs(value) > 1 / _MOST else 0.0


def words(of: Mapping[str, Any], key: str) -> str:
    """Return a text; nothing if it is none."""
    value = of.get(key)
    return value if isinstance(value, str) else ""


def table(of: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Return an object; an empty one if it is none."""
    value = of.get(key)
    return value if isinstance(value, Mapping) else {}


def rows(of: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    """Return the objects of a list."""
    value = of.get(key)
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def texts(of: Mapping[str, Any], key: str) -> list[str]:
    """Return the texts of a list."""
    value = of.get(key)
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def numbers(of: Mapping[str, Any], key: str) -> list[float]:
    """Return the numbers of a list; none if one of them is no finite number."""
    value = of.get(key)
    if not isinstance(value, list):
        return []
    found = [number({"": one}, "") for one in value]
    return [one for one in found if one is not None] if None not in found else []


def interval(of: Mapping[str, Any], key: str) -> tuple[float, float] | None:
    """Return the 95% interval that stands beside a number: `key_ci95`, or `key_low` and `_high`."""
    found = numbers(of, f"{key}_ci95")
    if len(found) == 2:
        return found[0], found[1]
    low, high = number(of, f"{key}_low"), number(of, f"{key}_high")
    return None if low is None or high is None else (low, high)


def op_of_data(of: Mapping[str, Any]) -> float | None:
    """Return the op of the pages that hold data, which theory asks for; else that of the drive."""
    physical, held = number(of, "physical_pages"), number(of, "held_pages")
    if physical and held and 0 < held < physical:
        return (physical - held) / held
    return number(of, "op")


def shown(value: Any) -> str:
    """Return a value as a table shows it."""
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
