"""Equality of values that hold arrays and frames."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, ClassVar


class ComparedByValue:
    """Base of classes that are equal if all they hold is, arrays and frames too.

    It is a dataclass (with `eq=False`), or a list or dictionary that says more than its elements;
    then this class stands first among its bases, as these have an equality of their own. What the
    computer took for it is no part of it: fields with `field(compare=False)`.
    """

    def __eq__(self, other: object) -> bool:
        """Return whether both were asked and found the same."""
        if type(other) is not type(self):
            return NotImplemented
        return alike(self._compared(), other._compared())

    def __ne__(self, other: object) -> bool:
        """Return the opposite, which a list or dictionary would else say by its elements."""
        found = self.__eq__(other)
        return found if found is NotImplemented else not found

    def _compared(self) -> dict[str, Any]:
        """Return by name what must be alike; the elements of a list or dictionary have none."""
        found = _compared_fields(self) if is_dataclass(self) else dict(vars(self))
        if isinstance(self, list):
            found[""] = list(self)
        elif isinstance(self, dict):
            found[""] = dict(self)
        return found

    # As of all that holds arrays and frames.
    __hash__: ClassVar[None]  # type: ignore[assignment]


def alike(one: Any, other: Any) -> bool:
    """Return whether two values are of one type and equal in all parts; NaN equals NaN.

    Fields of a dataclass that are no part of its comparison count for nothing.
    """
    import numpy as np  # noqa: PLC0415 (slow)
    import polars as pl  # noqa: PLC0415 (slow)

    if type(one) is not type(other):
        return False
    if one is other:
        found = True
    elif isinstance(one, ComparedByValue):
        found = one == other
    elif isinstance(one, np.ndarray):
        is_number = one.dtype.kind in "fc"
        found = one.dtype == other.dtype and np.array_equal(one, other, equal_nan=is_number)
    elif isinstance(one, pl.DataFrame | pl.Series):
        found = one.equals(other, null_equal=True)
    elif isinstance(one, Mapping):
        found = one.keys() == other.keys() and all(alike(one[key], other[key]) for key in one)
    elif isinstance(one, list | tuple):
        found = len(one) == len(other) and all(map(alike, one, other))
    elif is_dataclass(one):
        found = alike(_compared_fields(one), _compared_fields(other))
    elif isinstance(one, float):
        found = one == other or (np.isnan(one) and np.isnan(other))
    else:
        found = one == other
    return bool(found)


def _compared_fields(one: Any) -> dict[str, Any]:
    return {field.name: getattr(one, field.name) for field in fields(one) if field.compare}
