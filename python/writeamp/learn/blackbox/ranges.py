"""Training ranges of characteristics, and which rows lie beyond or between them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from writeamp.learn.blackbox.features.characteristics import settled
from writeamp.learn.blackbox.features.pages import lies_across


@dataclass(frozen=True)
class Range:
    """Training range of a characteristic.

    Of the size of a direction, 0 is none: it says that there are no such requests.

    Attributes:
        low, high: the least and the greatest.
        typical: the median.
    """

    low: float
    typical: float
    high: float


def ranges_of(characteristics: pl.DataFrame, names: Iterable[str]) -> dict[str, Range]:
    """Return the range of each of some characteristics."""
    table = settled(characteristics)
    found = {}
    for name in names:
        values = table[name].cast(pl.Float64)
        given = values.filter(values > 0) if _is_size(name) else values
        kept = given if len(given) else values
        low, typical, high = (kept.quantile(share, "nearest") for share in (0.0, 0.5, 1.0))
        found[name] = Range(float(low or 0), float(typical or 0), float(high or 0))
    return found


def beyond(
    ranges: Mapping[str, Range], characteristics: pl.DataFrame
) -> dict[str, npt.NDArray[np.bool_]]:
    """Return the characteristics that some row has outside their range, and which rows have."""
    table = settled(characteristics)
    found = {}
    for name, one in ranges.items():
        values = table[name].cast(pl.Float64)
        is_inside = values.is_between(one.low, one.high)
        if _is_size(name):
            is_inside |= values == 0
        if not is_inside.all():
            found[name] = ~is_inside.to_numpy()
    return found


def _is_size(name: str) -> bool:
    return name.endswith("_size_bytes")


Flags = npt.NDArray[np.bool_]

# A value that so large a share of the rows has is a level of a grid.
_LEVEL_SHARE = 0.05
_LEVELLED = ("queue_depth", "write_size_bytes", "read_size_bytes")

# Pages of present drives; a request that does not fill them is served as one of more bytes.
PAGE_BYTES = 4096
SIZES = ("write_size_bytes", "read_size_bytes")


def between_levels(measurements: pl.DataFrame) -> Flags:
    """Return which rows lie between the levels of the others; shape (rows,).

    A level is a depth or a size that recurs, as all of a grid do. A row of levels only has others
    with the same values, of which a model has learnt what each of them does: it says nothing of the
    error in between.
    """
    table = settled(measurements)
    found = np.zeros(table.height, dtype=bool)
    for name in set(_LEVELLED) & set(table.columns):
        values = table[name].cast(pl.Float64).to_numpy()
        _, place, count = np.unique(values, return_inverse=True, return_counts=True)
        found |= (values > 0) & (count[place] < max(_LEVEL_SHARE * table.height, 2))
    return found


def across_pages(characteristics: pl.DataFrame) -> dict[str, Flags]:
    """Return for each direction's size which rows lie across pages of 4 KiB; shape (rows,) each."""
    table = settled(characteristics)
    return {
        name: lies_across(table[name].cast(pl.Float64).to_numpy(), PAGE_BYTES)
        for name in SIZES
        if name in table.columns
    }
