"""Rows between the levels of a table, on which the error between training points shows."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from writeamp.learn.blackbox.features.characteristics import settled
from writeamp.learn.blackbox.features.pages import lies_across

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
