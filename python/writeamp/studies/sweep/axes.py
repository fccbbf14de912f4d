"""One axis of a sweep: a setting's name, and the values or the bounds that a file gives it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias

import numpy as np

from writeamp.errors import WriteampError, unknown
from writeamp.fields.domains import POSITIVE_COUNT, Flag, OneOf, finite, ratio_of, shown

Value: TypeAlias = "str | bool | int | float | list[Any]"

SCALES = ("linear", "log")
MOST_VALUES = 1_000_000

_RANGE_KEYS = ("from", "to", "step", "num", "scale", "integer")
_FORM = (
    "a list of values, {from, to, step}, {from, to, num, scale} or, for a design that draws "
    "samples, {from, to, scale}"
)
# A step that ends a hair below the end of its range, as 0.1 does in binary, reaches it.
_ALMOST = Decimal("1e-9")


@dataclass(frozen=True)
class ListedAxis:
    """An axis whose values are known."""

    name: str
    values: tuple[Value, ...]


@dataclass(frozen=True)
class BoundedAxis:
    """An axis of which only the bounds are known; a design draws values between them."""

    name: str
    low: float
    high: float
    scale: str
    is_integer: bool

    def at(self, share: float) -> float | int:
        """Return the value that lies at a share of the way, 0 included and 1 excluded.

        Whole numbers from the lower bound to the upper one are equally likely, both included.
        """
        low, high = self.low, self.high + (1 if self.is_integer else 0)
        if self.scale == "log":
            value = math.exp(math.log(low) + share * (math.log(high) - math.log(low)))
        else:
            value = low + share * (high - low)
        if not self.is_integer:
            return min(max(value, low), high)
        return int(min(max(math.floor(value), self.low), self.high))


Axis: TypeAlias = ListedAxis | BoundedAxis


def axes_of(table: Any, where: str, *, counts: Sequence[str] = ()) -> tuple[Axis, ...]:
    """Return the axes that a table says, in its order.

    A name with a dot may stand in quotes, or bare, which TOML reads as a table in the table.

    Args:
        table: an axis for each key.
        where: the file and the key of the table, for errors.
        counts: names of settings that take whole numbers only, to which ranges are rounded.

    Raises:
        WriteampError: an axis in another form, or a range that has no values.
    """
    if not isinstance(table, Mapping):
        raise WriteampError(f"{where} is {shown(table)}; it must be a table of axes")
    found: dict[str, Axis] = {}
    for name, given in _flat("", table):
        if name in found:
            raise WriteampError(f"{where}.{name} stands twice, with and without quotes")
        found[name] = _axis(name, given, f"{where}.{name}", is_count=name in counts)
    return tuple(found.values())


def _flat(prefix: str, table: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, Mapping) and value and not set(value) & set(_RANGE_KEYS):
            yield from _flat(f"{prefix}{key}.", value)
        else:
            yield f"{prefix}{key}", value


def _axis(name: str, given: Any, where: str, *, is_count: bool) -> Axis:
    if isinstance(given, Mapping):
        return _range(name, given, where, is_count=is_count)
    if not isinstance(given, list | tuple):
        raise WriteampError(f"{where} is {shown(given)}; it must be {_FORM}")
    if not given:
        raise WriteampError(f"{where} is an empty list; an axis needs at least one value")
    for value in given:
        if not isinstance(value, str | bool | int | float | list):
            raise WriteampError(
                f"{where} has {shown(value)}; values are numbers, texts, true or false"
            )
    return ListedAxis(name, tuple(given))


def _range(name: str, given: Mapping[str, Any], where: str, *, is_count: bool) -> Axis:
    given = {key: _from_per_cent(value) for key, value in given.items()}
    for key in given:
        if key not in _RANGE_KEYS:
            raise WriteampError(f"{where}: {unknown('key', str(key), _RANGE_KEYS)}")
    low, high = _end(given, "from", where), _end(given, "to", where)
    if not low <= high:
        raise WriteampError(f"{where} goes from {low} to {high}; from must not be above to")
    scale = OneOf(SCALES).check(f"{where}.scale", given.get("scale", "linear"))
    if scale == "log" and low <= 0:
        raise WriteampError(f"{where} is a log range from {low}; it must begin above 0")
    is_integer = Flag().check(f"{where}.integer", given.get("integer", is_count))
    if is_integer and not (float(low).is_integer() and float(high).is_integer()):
        raise WriteampError(f"{where} goes from {low} to {high}; whole numbers need whole ends")
    if "step" in given and ("num" in given or "scale" in given):
        raise WriteampError(f"{where} has a step, which excludes num and scale; give only one")
    if "step" in given:
        return ListedAxis(name, _stepped(given, where))
    if "num" in given:
        num = POSITIVE_COUNT.check(f"{where}.num", given["num"])
        return ListedAxis(name, _spaced(low, high, num, scale, where, is_integer=is_integer))
    return BoundedAxis(name, low, high, scale, is_integer)


def _from_per_cent(value: Any) -> Any:
    is_per_cent = isinstance(value, str) and value.endswith("%")
    return value if not is_per_cent or math.isnan(ratio_of(value)) else ratio_of(value)


def _end(given: Mapping[str, Any], key: str, where: str) -> float:
    if key not in given:
        raise WriteampError(f"{where}: {key} is missing; an axis is {_FORM}")
    if math.isnan(finite(given[key])):
        raise WriteampError(f"{where}.{key} is {shown(given[key])}; it must be a finite number")
    return given[key]  # type: ignore[no-any-return]


def _stepped(given: Mapping[str, Any], where: str) -> tuple[Value, ...]:
    """Return from, from + step, …, up to `to`; in decimals, so that 0.1 + 2·0.1 is 0.3."""
    if not finite(given["step"]) > 0:
        raise WriteampError(
            f"{where}.step is {shown(given['step'])}; it must be a finite number above 0"
        )
    low, high, step = (Decimal(repr(given[key])) for key in ("from", "to", "step"))
    count = int((high - low) / step + _ALMOST) + 1
    _check_count(count, where)
    is_whole = all(isinstance(given[key], int) for key in ("from", "step"))
    return tuple(
        int(value) if is_whole else float(value)
        for value in (low + at * step for at in range(count))
    )


def _spaced(
    low: float, high: float, num: int, scale: str, where: str, *, is_integer: bool
) -> tuple[Value, ...]:
    """Return so many values at equal distances or ratios, both ends included."""
    _check_count(num, where)
    if num == 1 and low != high:
        raise WriteampError(f"{where} has num 1, but two ends; give num of at least 2")
    space = np.geomspace if scale == "log" else np.linspace
    values = [float(value) for value in space(low, high, num)]
    if is_integer:
        return tuple(dict.fromkeys(round(value) for value in values))
    return tuple(dict.fromkeys(_short(value) for value in values))


def _short(value: float) -> float | int:
    """Return a value without the last digits, in which only rounding errors are."""
    return float(f"{value:.15g}")


def _check_count(count: int, where: str) -> None:
    if count > MOST_VALUES:
        raise WriteampError(f"{where} has {count} values; an axis has at most {MOST_VALUES}")
