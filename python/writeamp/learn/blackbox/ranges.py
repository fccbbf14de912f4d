"""Training ranges of characteristics, and rows outside these ranges or between grid values."""

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

    Sizes of 0 are left out: they mark rows without requests of that direction.

    Attributes:
        low, high: the least and the greatest value.
        typical: the median.
    """

    low: float
    typical: float
    high: float


def ranges_of(characteristics: pl.DataFrame, names: Iterable[str]) -> dict[str, Range]:
    """Return the training range of each named characteristic."""
    table = settled(characteristics)
    ranges = {}
    for name in names:
        values = table[name].cast(pl.Float64)
        positive = values.filter(values > 0) if _is_size(name) else values
        used = positive if len(positive) else values
        low, typical, high = (used.quantile(share, "nearest") for share in (0.0, 0.5, 1.0))
        ranges[name] = Range(float(low or 0), float(typical or 0), float(high or 0))
    return ranges


def beyond(
    ranges: Mapping[str, Range], characteristics: pl.DataFrame
) -> dict[str, npt.NDArray[np.bool_]]:
    """Return the characteristics with rows outside their range, and a mask of these rows."""
    table = settled(characteristics)
    masks = {}
    for name, limits in ranges.items():
        values = table[name].cast(pl.Float64)
        is_inside = values.is_between(limits.low, limits.high)
        if _is_size(name):
            is_inside |= values == 0
        if not is_inside.all():
            masks[name] = ~is_inside.to_numpy()
    return masks


def _is_size(name: str) -> bool:
    return name.endswith("_size_bytes")


Flags = npt.NDArray[np.bool_]

# Smallest share of the rows that must have a value for it to count as a level of a grid.
_LEVEL_SHARE = 0.05
_LEVELLED = ("queue_depth", "write_size_bytes", "read_size_bytes")

# Page size of present drives. A request that fills a page only partly costs them as much as a
# larger request, so these sizes need training rows of their own.
PAGE_BYTES = 4096
SIZES = ("write_size_bytes", "read_size_bytes")


def between_levels(measurements: pl.DataFrame) -> Flags:
    """Return which rows have a queue depth or size that few other rows have; shape (rows,).

    A level is a queue depth or a size that many rows share, as in a grid. A row whose values are
    all levels cannot show the error between levels, since other training rows have its values.
    """
    table = settled(measurements)
    is_between = np.zeros(table.height, dtype=bool)
    for name in set(_LEVELLED) & set(table.columns):
        values = table[name].cast(pl.Float64).to_numpy()
        _, place, count = np.unique(values, return_inverse=True, return_counts=True)
        is_between |= (values > 0) & (count[place] < max(_LEVEL_SHARE * table.height, 2))
    return is_between


def across_pages(characteristics: pl.DataFrame) -> dict[str, Flags]:
    """Return which rows have a write or read size unaligned to 4 KiB; shape (rows,) each."""
    table = settled(characteristics)
    return {
        name: lies_across(table[name].cast(pl.Float64).to_numpy(), PAGE_BYTES)
        for name in SIZES
        if name in table.columns
    }
