"""Unions of intervals, exact, with one address space per device."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

U32 = npt.NDArray[np.uint32]
U64 = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class Runs:
    """Disjoint intervals ``[start, end)`` in order of (device, start), with gaps between."""

    device: U32
    start: U64
    end: U64

    @property
    def total(self) -> int:
        """Sum of the lengths; exact even where the devices' sum exceeds 64 bits."""
        if len(self.device) == 0:
            return 0
        first_of_device = np.flatnonzero(np.diff(self.device, prepend=self.device[0] + 1))
        return sum(np.add.reduceat(self.end - self.start, first_of_device).tolist())

    def rank(self, device: U32, position: U64) -> U64:
        """Return for each (device, position) how many covered positions come before it.

        The covered positions themselves thus have the ranks 0, 1, 2, … in order of
        (device, position). The total must fit 64 bits.
        """
        lengths = self.end - self.start
        covered_before = np.concatenate((np.zeros(1, np.uint64), np.cumsum(lengths)))
        ranks = np.empty(len(position), dtype=np.uint64)
        for code, rows in _rows_by_device(device):
            first, beyond = np.searchsorted(self.device, [code, code + 1])
            here = position[rows]
            # Runs of the device that start at or before the position; the last may cover it.
            started = np.searchsorted(self.start[first:beyond], here, side="right")
            last = first + np.maximum(started, 1) - 1
            if first == beyond:
                ranks[rows] = covered_before[first]
                continue
            inside = np.clip(here, self.start[last], self.end[last]) - self.start[last]
            ranks[rows] = covered_before[last] + inside
        return ranks


def union(extents: pl.DataFrame) -> Runs:
    """Return the union of intervals given as columns ``device`` u32, ``start``, ``end`` u64.

    Empty intervals (start = end) cover nothing.
    """
    one_device = extents["device"].n_unique() <= 1
    reach = pl.col("end").cum_max()
    ordered = (
        extents.filter(pl.col("end") > pl.col("start"))
        .sort("start" if one_device else ["device", "start"])
        .with_columns(reach=reach if one_device else reach.over("device"))
    )
    device, start, end = (ordered[name].to_numpy() for name in ("device", "start", "reach"))
    opens = np.ones(len(start), dtype=bool)
    opens[1:] = (start[1:] > end[:-1]) | (device[1:] != device[:-1])
    first = np.flatnonzero(opens)
    last = np.append(first[1:], len(start)) - 1
    return Runs(device[first], start[first], end[last[: len(first)]])


def _rows_by_device(device: U32) -> Iterator[tuple[int, slice | npt.NDArray[np.intp]]]:
    """Yield each device and the rows it has."""
    if len(device) == 0:
        return
    if (device == device[0]).all():
        yield int(device[0]), slice(None)
        return
    order = np.argsort(device, kind="stable")
    codes, starts = np.unique(device[order], return_index=True)
    yield from zip(codes.tolist(), np.split(order, starts[1:]), strict=True)
