"""Whether two values say the same, whatever arrays and frames they hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl


class ComparedByValue:
    """A dataclass (with `eq=False`) whose equality knows arrays and frames.

    Two are equal if all that they were asked and found is, but for what the computer took for it:
    fields that are no part of a comparison (`field(compare=False)`).
    """

    def __eq__(self, other: object) -> bool:
        """Return whether both were asked and found the same."""
        if type(other) is not type(self):
            return NotImplemented
        return fields_alike(self, other)

    # As of all that holds arrays and frames.
    __hash__: ClassVar[None]  # type: ignore[assignment]


def alike(one: Any, other: Any) -> bool:
    """Return whether two values are of one type and equal in all parts; NaN equals NaN.

    Fields of a dataclass that are no part of its comparison count for nothing.
    """
    if type(one) is not type(other):
        return False
    if one is other:
        found = True
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
        found = fields_alike(one, other)
    elif isinstance(one, float):
        found = one == other or (np.isnan(one) and np.isnan(other))
    else:
        found = one == other
    return bool(found)


def fields_alike(one: Any, other: Any) -> bool:
    """Return whether two dataclasses of one type are alike in the fields that are compared."""
    return all(
        alike(getattr(one, field.name), getattr(other, field.name))
        for field in fields(one)
        if field.compare
    )
