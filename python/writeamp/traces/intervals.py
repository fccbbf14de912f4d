"""Exact unions of intervals over the address spaces of all devices, laid end to end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import polars as pl

from writeamp.errors import WriteampError

U64 = npt.NDArray[np.uint64]

_LAST_ADDRESS = 2**64 - 1
# Number of starts and ends that are processed at once, so that they fit into the CPU's caches.
_EVENTS = 1 << 16


def end_to_end(extents: pl.DataFrame, path: str, *, multiple: int = 1) -> pl.DataFrame:
    """Return the ``start`` and ``end`` of extents with the devices laid one after the other.

    The address space of each ``device`` begins at a multiple of ``multiple``, at or after the end
    of the previous device, and ends at the highest end of its extents. So no address belongs to two
    devices. ``path`` is for the error.

    Raises:
        WriteampError: the devices together need more than 64 bits.
    """
    reach = extents.group_by("device").agg(pl.col("end").max()).sort("device")
    firsts, reach_end = [], 0
    for end in reach["end"].to_list():
        firsts.append(-(-reach_end // multiple) * multiple)
        reach_end = firsts[-1] + end
    if reach_end > _LAST_ADDRESS:
        raise WriteampError(
            f"{path}: the devices together reach to {reach_end}; valid is up to 2^64 - 1"
        )
    if reach.height <= 1:
        return extents.select("start", "end")
    base = np.zeros(int(reach["device"][-1]) + 1, dtype=np.uint64)
    base[reach["device"].to_numpy()] = np.array(firsts, np.uint64)
    shift = pl.Series(base[extents["device"].to_numpy()])
    return extents.select(pl.col("start") + shift, pl.col("end") + shift)


@dataclass(frozen=True)
class IntervalUnion:
    """Disjoint intervals ``[start, end)`` in ascending order, with gaps between."""

    start: U64
    end: U64

    @property
    def total(self) -> int:
        """Sum of the lengths."""
        return int((self.end - self.start).sum())

    def rank(self, position: U64) -> U64:
        """Return the number of covered positions before each position.

        The covered positions in ascending order thus have the ranks 0, 1, 2, …
        """
        if len(self.start) == 0:
            return np.zeros_like(position)
        covered_before = np.cumsum(self.end - self.start) - (self.end - self.start)
        # Searches of sorted positions run through memory in order, which is many times faster.
        order = pl.Series(position).arg_sort().to_numpy()
        ordered = position[order]
        # Only the last interval that starts at or before a position can cover it.
        started = np.searchsorted(self.start, ordered, side="right")
        run = np.maximum(started, 1) - 1
        inside = np.clip(ordered, self.start[run], self.end[run]) - self.start[run]
        ranks = np.empty_like(position)
        ranks[order] = covered_before[run] + inside
        return ranks


def union(extents: pl.DataFrame) -> IntervalUnion:
    """Return the union of intervals in u64 columns ``start`` and ``end``.

    Empty intervals (start = end) cover no position.
    """
    ordered = extents.filter(pl.col("end") > pl.col("start")).sort("start")
    start = ordered["start"].to_numpy()
    reach = ordered["end"].cum_max().to_numpy()
    if len(start) == 0:
        return IntervalUnion(start, reach)
    opens = np.flatnonzero(start[1:] > reach[:-1]) + 1
    return IntervalUnion(start[np.append(0, opens)], reach[np.append(opens, len(start)) - 1])


def ends_of_devices(extents: pl.DataFrame, covered: IntervalUnion) -> tuple[int, ...] | None:
    """Return the number of covered positions up to the end of each device; None for one device.

    Args:
        extents: columns `device` and `end`, with the devices laid one after the other.
        covered: the union of the extents.
    """
    reach = extents.group_by("device").agg(pl.col("end").max()).sort("device")
    ends = tuple(covered.rank(reach["end"].to_numpy()).tolist())
    return ends if len(ends) > 1 else None


@dataclass(frozen=True)
class IntervalBounds:
    """Starts and ends of non-empty intervals, each sorted separately; shape (n,).

    The number of intervals that cover a position is the number of starts at or before it, minus the
    number of ends at or before it.
    """

    start: U64
    end: U64

    @classmethod
    def of(cls, extents: pl.DataFrame) -> IntervalBounds:
        """Return the bounds of intervals in u64 columns ``start`` and ``end``."""
        covering = extents.filter(pl.col("end") > pl.col("start"))
        return cls(covering["start"].sort().to_numpy(), covering["end"].sort().to_numpy())

    @property
    def total(self) -> int:
        """Number of positions in the union of the intervals."""
        if len(self.start) == 0:
            return 0
        # Where as many intervals have ended as started, the positions before the next start are not
        # covered.
        last = np.flatnonzero(self.start[1:] > self.end[:-1])
        gaps = self.start[last + 1] - self.end[last]
        return int(self.end[-1] - self.start[0] - gaps.sum())

    def in_pages(self, page_bytes: int) -> IntervalBounds:
        """Return the bounds, in pages, of the pages that intervals of bytes touch."""
        size = np.uint64(page_bytes)
        return IntervalBounds(self.start // size, (self.end - np.uint64(1)) // size + np.uint64(1))

    def lengths_by_cover(self) -> npt.NDArray[np.int64]:
        """Return a histogram: element n is the number of positions that n intervals cover.

        The shape is (most + 1,), where most is the largest number of intervals that cover one
        position. Element 0 is 0. Positions must be below 2^62. The memory depends on the number of
        intervals, not on their lengths.
        """
        positions = np.zeros(len(self.start) + 1, np.int64)
        cover, since = 0, np.zeros(1, np.int64)
        for events in self._events():
            places = np.concatenate([since, events >> 1])
            covers = cover + np.cumsum(np.concatenate([[0], 2 * (events & 1) - 1]))
            least = covers.min()
            counted = np.bincount(covers[:-1] - least, weights=np.diff(places)).astype(np.int64)
            positions[least : least + len(counted)] += counted
            cover, since = int(covers[-1]), places[-1:]
        positions[0] = 0
        return np.trim_zeros(positions, "b")

    def _events(self) -> Iterator[npt.NDArray[np.int64]]:
        """Yield starts (2 × place + 1) and ends (2 × place) in order of place, in chunks."""
        # Cut after every `_EVENTS` starts and ends in their joint order, a start before an end at
        # the same place, so that a chunk stays small even if all are at one place.
        few_starts = np.arange(0, len(self.start), _EVENTS)
        few_ends = np.append(few_starts[1:], len(self.end)) if len(self.end) else few_starts
        starts_before = np.searchsorted(self.start, self.end[few_ends - 1], side="right")
        ends_before = np.searchsorted(self.end, self.start[few_starts], side="left")
        to_start = np.sort(np.concatenate([few_starts, starts_before]))
        to_end = np.sort(np.concatenate([ends_before, few_ends]))
        for starts, ends in zip(pairwise(to_start), pairwise(to_end), strict=True):
            opening = self.start[slice(*starts)].astype(np.int64) * 2 + 1
            closing = self.end[slice(*ends)].astype(np.int64) * 2
            yield np.sort(np.concatenate([opening, closing]))
