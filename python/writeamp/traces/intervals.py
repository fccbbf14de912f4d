"""Unions of intervals, exact, over the address spaces of all devices laid end to end."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from writeamp.errors import WriteampError

U64 = npt.NDArray[np.uint64]

_LAST_ADDRESS = 2**64 - 1


def end_to_end(extents: pl.DataFrame, path: str) -> pl.DataFrame:
    """Return the ``start`` and ``end`` of extents with the devices laid one after the other.

    Each ``device`` takes as much of the one address space as its highest end. The order of
    (device, address) is kept, and no two devices share an address. ``path`` is for the error.

    Raises:
        WriteampError: together the devices reach beyond 64 bits.
    """
    reach = extents.group_by("device").agg(pl.col("end").max()).sort("device")
    reach_end = sum(reach["end"].to_list())
    if reach_end > _LAST_ADDRESS:
        raise WriteampError(
            f"{path}: the devices reach to {reach_end} together, valid is up to 2^64 - 1"
        )
    if reach.height <= 1:
        return extents.select("start", "end")
    base = np.zeros(int(reach["device"][-1]) + 1, dtype=np.uint64)
    base[reach["device"].to_numpy()] = (reach["end"].cum_sum() - reach["end"]).to_numpy()
    shift = pl.Series(base[extents["device"].to_numpy()])
    return extents.select(pl.col("start") + shift, pl.col("end") + shift)


@dataclass(frozen=True)
class Runs:
    """Disjoint intervals ``[start, end)`` in ascending order, with gaps between."""

    start: U64
    end: U64

    @property
    def total(self) -> int:
        """Sum of the lengths."""
        return int((self.end - self.start).sum())

    def rank(self, position: U64) -> U64:
        """Return for each position how many covered positions come before it.

        The covered positions themselves thus have the ranks 0, 1, 2, … in ascending order.
        """
        if len(self.start) == 0:
            return np.zeros_like(position)
        covered_before = np.cumsum(self.end - self.start) - (self.end - self.start)
        # Sorting first makes the searches walk through memory, many times faster for millions.
        order = pl.Series(position).arg_sort().to_numpy()
        ordered = position[order]
        # The last run that starts at or before the position is the one that may cover it.
        started = np.searchsorted(self.start, ordered, side="right")
        run = np.maximum(started, 1) - 1
        inside = np.clip(ordered, self.start[run], self.end[run]) - self.start[run]
        ranks = np.empty_like(position)
        ranks[order] = covered_before[run] + inside
        return ranks


def union(extents: pl.DataFrame) -> Runs:
    """Return the union of intervals given as u64 columns ``start`` and ``end``.

    Empty intervals (start = end) cover nothing.
    """
    ordered = extents.filter(pl.col("end") > pl.col("start")).sort("start")
    start = ordered["start"].to_numpy()
    reach = ordered["end"].cum_max().to_numpy()
    if len(start) == 0:
        return Runs(start, reach)
    opens = np.flatnonzero(start[1:] > reach[:-1]) + 1
    return Runs(start[np.append(0, opens)], reach[np.append(opens, len(start)) - 1])
