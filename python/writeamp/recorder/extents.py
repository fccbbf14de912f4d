"""Owners of ranges of sectors, as they change in time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from writeamp.traces.trace import SECTOR_BYTES

Integers = npt.NDArray[np.int64]

NO_OWNER = -1
_NO_EDGE = np.iinfo(np.int64).max
# Number of recent ranges above which they are joined with the others, which are copied then.
_MOST_RECENT = 1 << 16


@dataclass(frozen=True)
class Allocations:
    """Ranges of sectors that get an owner, in the order of time; each of shape (n,)."""

    time_ns: Integers
    first: Integers
    end: Integers
    owner: Integers

    @property
    def size(self) -> int:
        """Number of allocations."""
        return len(self.time_ns)

    @staticmethod
    def none() -> Allocations:
        """Return no allocations."""
        return Allocations(*(np.empty(0, np.int64) for _ in range(4)))

    @staticmethod
    def joined(parts: Iterable[Allocations]) -> Allocations:
        """Return the allocations of all parts, in the order of time."""
        columns = zip(*(vars(each).values() for each in parts), strict=True)
        time_ns, *others = (np.concatenate(column) for column in columns)
        order = np.argsort(time_ns, kind="stable")
        return Allocations(time_ns[order], *(column[order] for column in others))

    def take(self, places: slice | npt.NDArray[np.bool_]) -> Allocations:
        """Return the allocations at these places."""
        return Allocations(*(column[places] for column in vars(self).values()))

    def chunks(self, size: int) -> Iterator[Allocations]:
        """Yield the allocations in chunks; at least one, which may be empty."""
        for start in range(0, max(self.size, 1), size):
            yield self.take(slice(start, start + size))


@dataclass(frozen=True)
class Ranges:
    """Disjoint ranges of sectors with an owner each, sorted; each array has the shape (ranges,)."""

    first: Integers
    end: Integers
    owner: Integers

    @staticmethod
    def none() -> Ranges:
        """Return no ranges."""
        return Ranges(*(np.empty(0, np.int64) for _ in range(3)))

    @staticmethod
    def of(extents: Iterable[tuple[int, int, int]], first_sector: int) -> Ranges:
        """Return ranges of owner 0, of extents in bytes as `extents_of_file` yields them."""
        rows = sorted((start, start + length) for _, start, length in extents)
        first, end = (
            np.array([row[side] for row in rows], np.int64) // SECTOR_BYTES + first_sector
            for side in (0, 1)
        )
        return Ranges(first, end, np.zeros(len(rows), np.int64))

    def below(self, upper: Ranges) -> Ranges:
        """Return these ranges, where `upper` has no others."""
        if not len(upper.first):
            return self
        edges = np.unique(np.concatenate([self.first, self.end, upper.first, upper.end]))
        owner = upper.owner_at(edges[:-1])
        return _owned(edges, np.where(owner == NO_OWNER, self.owner_at(edges[:-1]), owner))

    def owner_at(self, sectors: Integers) -> Integers:
        """Return the owner of each sector, or `NO_OWNER`."""
        if not len(self.first):
            return np.full(len(sectors), NO_OWNER, np.int64)
        place = self.first.searchsorted(sectors, "right") - 1
        is_within = (place >= 0) & (sectors < self.end[place])
        return np.where(is_within, self.owner[place], NO_OWNER)

    def next_edge(self, sectors: Integers) -> Integers:
        """Return the first sector after each one where a range begins or ends."""
        return np.minimum(_next(self.first, sectors), _next(self.end, sectors))


class Changes:
    """Owners by place and time, after a few allocations."""

    def __init__(self, allocations: Allocations) -> None:
        """Sort the allocations by place and time, within the edges of all of them."""
        self._edges = np.unique(np.concatenate([allocations.first, allocations.end]))
        low = self._edges.searchsorted(allocations.first)
        count = self._edges.searchsorted(allocations.end) - low
        rows = np.repeat(np.arange(allocations.size), count)
        within = np.arange(len(rows)) - np.repeat(np.cumsum(count) - count, count)
        place = low[rows] + within
        # Rows are in the order of time, which a stable sort keeps.
        order = np.argsort(place, kind="stable")
        self._place = place[order]
        self._row = rows[order]
        self._owner = allocations.owner[self._row]
        self._time_ns = allocations.time_ns
        self._rows = allocations.size

    def owner_at(self, sectors: Integers, time_ns: Integers) -> Integers:
        """Return the owner of each sector at a time, or `NO_OWNER` without a change until then."""
        if not len(self._place):
            return np.full(len(sectors), NO_OWNER, np.int64)
        place = self._edges.searchsorted(sectors, "right") - 1
        # The row of the first allocation after the time.
        row = self._time_ns.searchsorted(time_ns, "right")
        keys = self._place * (self._rows + 1) + self._row
        at = keys.searchsorted(place * (self._rows + 1) + row) - 1
        is_change = (at >= 0) & (self._place[at] == place)
        return np.where(is_change, self._owner[at], NO_OWNER)

    def next_edge(self, sectors: Integers) -> Integers:
        """Return the first sector after each one where the owner may be another."""
        return _next(self._edges, sectors)

    def last(self) -> Ranges:
        """Return the owners after all allocations."""
        is_last = np.ones(len(self._place), bool)
        is_last[:-1] = self._place[1:] != self._place[:-1]
        owner = np.full(max(len(self._edges) - 1, 0), NO_OWNER, np.int64)
        owner[self._place[is_last]] = self._owner[is_last]
        return _owned(self._edges, owner)


class ExtentMap:
    """Owners of the sectors of a device at the time of the last allocation."""

    def __init__(self, allocations: Allocations) -> None:
        """Begin with the owners after these allocations."""
        self._old = Changes(allocations).last()
        self._recent = Ranges.none()

    def allocate(self, changes: Changes) -> None:
        """Change owners by later allocations."""
        self._recent = self._recent.below(changes.last())
        if len(self._recent.first) > _MOST_RECENT:
            self._old, self._recent = self._old.below(self._recent), Ranges.none()

    def new_among(self, allocations: Allocations) -> Allocations:
        """Return the allocations that may change an owner, because of now or of each other."""
        is_same = self.owner_at(allocations.first) == allocations.owner
        is_same &= self.next_edge(allocations.first) >= allocations.end
        changed = Changes(allocations.take(~is_same)).last()
        overlaps = changed.owner_at(allocations.first) != NO_OWNER
        overlaps |= changed.next_edge(allocations.first) < allocations.end
        return allocations.take(~is_same | overlaps)

    def owner_at(self, sectors: Integers) -> Integers:
        """Return the owner of each sector, or `NO_OWNER`."""
        recent = self._recent.owner_at(sectors)
        return np.where(recent == NO_OWNER, self._old.owner_at(sectors), recent)

    def next_edge(self, sectors: Integers) -> Integers:
        """Return the first sector after each one where the owner may be another."""
        return np.minimum(self._recent.next_edge(sectors), self._old.next_edge(sectors))


def _next(edges: Integers, sectors: Integers) -> Integers:
    """Return the first edge after each sector, or a very large number."""
    place = edges.searchsorted(sectors, "right")
    return np.append(edges, _NO_EDGE)[place]


def _owned(edges: Integers, owner: Integers) -> Ranges:
    """Return the ranges between edges that have an owner; neighbours of one owner are joined."""
    has_owner = owner != NO_OWNER
    first, end, owner = edges[:-1][has_owner], edges[1:][has_owner], owner[has_owner]
    is_new = np.ones(len(first), bool)
    is_new[1:] = (first[1:] != end[:-1]) | (owner[1:] != owner[:-1])
    starts = np.flatnonzero(is_new)
    last = np.append(starts[1:], len(first)) - 1
    return Ranges(first[starts], end[last[: len(starts)]], owner[starts])
