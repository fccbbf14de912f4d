"""Equality of values that contain arrays and data frames."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, ClassVar


class ComparedByValue:
    """Base of classes that are compared by all their values, including arrays and data frames.

    A derived class is a dataclass (with `eq=False`), or a list or dictionary with attributes. In
    the latter case, this class must be the first base, because lists and dictionaries define `==`
    themselves. Fields with `field(compare=False)`, such as run times, are ignored.
    """

    def __eq__(self, other: object) -> bool:
        """Return whether both have the same type and equal values."""
        if type(other) is not type(self):
            return NotImplemented
        return alike(self._compared(), other._compared())

    def __ne__(self, other: object) -> bool:
        """Return the opposite of `==`; lists and dictionaries would compare elements only."""
        is_equal = self.__eq__(other)
        return is_equal if is_equal is NotImplemented else not is_equal

    def _compared(self) -> dict[str, Any]:
        """Return the compared values by name; elements of a list or dictionary have the name ""."""
        compared = _compared_fields(self) if is_dataclass(self) else dict(vars(self))
        if isinstance(self, list):
            compared[""] = list(self)
        elif isinstance(self, dict):
            compared[""] = dict(self)
        return compared

    # Arrays and data frames are not hashable.
    __hash__: ClassVar[None]  # type: ignore[assignment]


def alike(first: Any, second: Any) -> bool:
    """Return whether two values have the same type and equal content; NaN equals NaN.

    Fields of dataclasses with `compare=False` are ignored.
    """
    import numpy as np  # noqa: PLC0415 (slow)
    import polars as pl  # noqa: PLC0415 (slow)

    if type(first) is not type(second):
        return False
    if first is second:
        is_equal = True
    elif isinstance(first, ComparedByValue):
        is_equal = first == second
    elif isinstance(first, np.ndarray):
        is_number = first.dtype.kind in "fc"
        is_equal = first.dtype == second.dtype and np.array_equal(
            first, second, equal_nan=is_number
        )
    elif isinstance(first, pl.DataFrame | pl.Series):
        is_equal = first.equals(second, null_equal=True)
    elif isinstance(first, Mapping):
        is_equal = first.keys() == second.keys() and all(
            alike(first[key], second[key]) for key in first
        )
    elif isinstance(first, list | tuple):
        is_equal = len(first) == len(second) and all(map(alike, first, second))
    elif is_dataclass(first):
        is_equal = alike(_compared_fields(first), _compared_fields(second))
    elif isinstance(first, float):
        is_equal = first == second or (np.isnan(first) and np.isnan(second))
    else:
        is_equal = first == second
    return bool(is_equal)


def _compared_fields(value: Any) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in fields(value) if field.compare}
