"""Axis of a sweep: the name of a setting that varies, with its values or its bounds."""

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
# Tolerance as a share of a step, so that a range includes its end despite binary rounding of the
# steps.
_ALMOST = Decimal("1e-9")


@dataclass(frozen=True)
class ListedAxis:
    """Axis with a list of values."""

    name: str
    values: tuple[Value, ...]


@dataclass(frozen=True)
class BoundedAxis:
    """Axis with bounds only; a design, such as a random sample, draws values between them."""

    name: str
    low: float
    high: float
    scale: str
    is_integer: bool

    def at(self, share: float) -> float | int:
        """Return the value at `share` of the range, from 0 (inclusive) to 1 (exclusive).

        Whole numbers between the bounds, both inclusive, are equally likely.
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
    """Return the axes of a table `[sweep.axes]`, in its order.

    A name with a dot may be quoted. Unquoted, TOML reads it as a nested table.

    Args:
        table: an axis for each key.
        where: file and key of the table, for error messages.
        counts: names of settings that are whole numbers; values of their ranges are rounded.

    Raises:
        WriteampError: an axis has an invalid form, or a range has no values.
    """
    if not isinstance(table, Mapping):
        raise WriteampError(f"{where} is {shown(table)}; it must be a table of axes")
    axes: dict[str, Axis] = {}
    for name, value in _flat("", table):
        if name in axes:
            raise WriteampError(f"{where}.{name} appears twice, with and without quotes; give one")
        axes[name] = _axis(name, value, f"{where}.{name}", is_count=name in counts)
    return tuple(axes.values())


def _flat(prefix: str, table: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, Mapping) and value and not set(value) & set(_RANGE_KEYS):
            yield from _flat(f"{prefix}{key}.", value)
        else:
            yield f"{prefix}{key}", value


def _axis(name: str, axis_value: Any, where: str, *, is_count: bool) -> Axis:
    if isinstance(axis_value, Mapping):
        return _range(name, axis_value, where, is_count=is_count)
    if not isinstance(axis_value, list | tuple):
        raise WriteampError(f"{where} is {shown(axis_value)}; it must be {_FORM}")
    if not axis_value:
        raise WriteampError(f"{where} is an empty list; give at least one value")
    for value in axis_value:
        if not isinstance(value, str | bool | int | float | list):
            raise WriteampError(
                f"{where} has {shown(value)}; values must be numbers, texts, true or false"
            )
    return ListedAxis(name, tuple(axis_value))


def _range(name: str, table: Mapping[str, Any], where: str, *, is_count: bool) -> Axis:
    table = {key: _from_per_cent(value) for key, value in table.items()}
    for key in table:
        if key not in _RANGE_KEYS:
            raise WriteampError(f"{where}: {unknown('key', str(key), _RANGE_KEYS)}")
    low, high = _end(table, "from", where), _end(table, "to", where)
    if not low <= high:
        raise WriteampError(f"{where} goes from {low} to {high}; from must not be above to")
    scale = OneOf(SCALES).check(f"{where}.scale", table.get("scale", "linear"))
    if scale == "log" and low <= 0:
        raise WriteampError(f"{where} is a log range from {low}; from must be above 0")
    is_integer = Flag().check(f"{where}.integer", table.get("integer", is_count))
    if is_integer and not (float(low).is_integer() and float(high).is_integer()):
        raise WriteampError(f"{where} goes from {low} to {high}; both must be whole numbers")
    if "step" in table and ("num" in table or "scale" in table):
        raise WriteampError(
            f"{where} has step with num or scale; give step alone, or num and scale"
        )
    if "step" in table:
        return ListedAxis(name, _stepped(table, where))
    if "num" in table:
        num = POSITIVE_COUNT.check(f"{where}.num", table["num"])
        return ListedAxis(name, _spaced(low, high, num, scale, where, is_integer=is_integer))
    return BoundedAxis(name, low, high, scale, is_integer)


def _from_per_cent(value: Any) -> Any:
    is_per_cent = isinstance(value, str) and value.endswith("%")
    return value if not is_per_cent or math.isnan(ratio_of(value)) else ratio_of(value)


def _end(table: Mapping[str, Any], key: str, where: str) -> float:
    if key not in table:
        raise WriteampError(f"{where}: {key} is missing; an axis must be {_FORM}")
    if math.isnan(finite(table[key])):
        raise WriteampError(
            f"{where}.{key} is {shown(table[key])}; it must be a finite number, or a "
            'percentage such as "5%"'
        )
    return table[key]  # type: ignore[no-any-return]


def _stepped(table: Mapping[str, Any], where: str) -> tuple[Value, ...]:
    """Return from, from + step, …, up to `to`. Decimals are used, so that 0.1 + 2·0.1 is 0.3."""
    if not finite(table["step"]) > 0:
        raise WriteampError(
            f"{where}.step is {shown(table['step'])}; it must be a finite number above 0"
        )
    low, high, step = (Decimal(repr(table[key])) for key in ("from", "to", "step"))
    count = int((high - low) / step + _ALMOST) + 1
    _check_count(count, where)
    is_whole = all(isinstance(table[key], int) for key in ("from", "step"))
    return tuple(
        int(value) if is_whole else float(value)
        for value in (low + at * step for at in range(count))
    )


def _spaced(
    low: float, high: float, num: int, scale: str, where: str, *, is_integer: bool
) -> tuple[Value, ...]:
    """Return `num` values with equal differences (or ratios, if log), including both ends."""
    _check_count(num, where)
    if num == 1 and low != high:
        raise WriteampError(f"{where} has num 1 but two different ends; give num of at least 2")
    space = np.geomspace if scale == "log" else np.linspace
    values = [float(value) for value in space(low, high, num)]
    if is_integer:
        return tuple(dict.fromkeys(round(value) for value in values))
    return tuple(dict.fromkeys(_short(value) for value in values))


def _short(value: float) -> float | int:
    """Return a value rounded to 15 digits, which removes rounding errors."""
    return float(f"{value:.15g}")


def _check_count(count: int, where: str) -> None:
    if count > MOST_VALUES:
        raise WriteampError(f"{where} has {count} values; at most {MOST_VALUES} are possible")
