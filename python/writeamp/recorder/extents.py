"""Owners of ranges of sectors, as they change in time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from writeamp.traces.trace import SECTOR_BYTES

Integers = npt.NDArray[np.int64]

NOBODY = -1
# Number of recent ranges above which they are joined with the others, which are copied then.
_MOST_RECENT = 1 << 16


@dataclass(frozen=True)
class Allocations:
    """Ranges of sectors that get an owner, in the order of time; each of shape (n,)."""

    time_ns: Integers
    first: Integers
    end: Integers
    owner: Integers

    @staticmethod
    def none() -> Allocations:
        """Return no allocations."""
        return Allocations(*(np.empty(0, np.int64) for _ in range(4)))

    @staticmethod
    def joined(parts: Iterable[Allocations]) -> Allocations:
        """Return the allocations of all parts, in the order of time."""
        columns = zip(*(vars(part).values() for part in parts), strict=True)
        time_ns, *others = (np.concatenate(column) for column in columns)
        order = np.argsort(time_ns, kind="stable")
        return Allocations(time_ns[order], *(column[order] for column in others))

    def until(self, time_ns: int) -> Allocations:
        """Return the allocations up to a time."""
        end = int(self.time_ns.searchsorted(time_ns, "right"))
        return Allocations(*(column[:end] for column in vars(self).values()))


@dataclass(frozen=True)
class Ranges:
    """Disjoint ranges of sectors with an owner each, sorted; each array has the shape (ranges,)."""

    first: Integers
    end: Integers
    owner: Integers

    @staticmethod
    def of(extents: Iterable[tuple[int, int, int]], first_sector: int = 0) -> Ranges:
        """Return ranges without an owner, of extents in bytes as `extents_of_file` yields them."""
        rows = sorted((start, start + length) for _, start, length in extents)
        first, end = (
            np.array([row[side] for row in rows], np.int64) // SECTOR_BYTES + first_sector
            for side in (0, 1)
        )
        return Ranges(first, end, np.zeros(len(rows), np.int64))

    @staticmethod
    def painted(allocations: Allocations) -> Ranges:
        """Return the ranges of allocations, of which later ones replace earlier ones."""
        edges = np.unique(np.concatenate([allocations.first, allocations.end]))
        if not len(edges):
            return Ranges.of(())
        owner = np.full(len(edges) - 1, NOBODY, np.int64)
        low, high = edges.searchsorted(allocations.first), edges.searchsorted(allocations.end)
        for start, end, it in zip(low, high, allocations.owner, strict=True):
            owner[start:end] = it
        return _owned(edges, owner)

    def below(self, upper: Ranges) -> Ranges:
        """Return these ranges, where `upper` has no others."""
        if not len(upper.first):
            return self
        edges = np.unique(np.concatenate([self.first, self.end, upper.first, upper.end]))
        owner = upper.owner_at(edges[:-1])
        return _owned(edges, np.where(owner == NOBODY, self.owner_at(edges[:-1]), owner))

    def owner_at(self, sectors: Integers) -> Integers:
        """Return the owner of each sector, or `NOBODY`."""
        if not len(self.first):
            return np.full(len(sectors), NOBODY, np.int64)
        place = self.first.searchsorted(sectors, "right") - 1
        is_within = (place >= 0) & (sectors < self.end[place])
        return np.where(is_within, self.owner[place], NOBODY)

    def next_edge(self, sectors: Integers) -> Integers:
        """Return the first sector after each one where a range ends or begins."""
        edge = np.full(len(sectors), np.iinfo(np.int64).max)
        for edges in (self.first, self.end):
            place = edges.searchsorted(sectors, "right")
            is_one = place < len(edges)
            edge[is_one] = np.minimum(edge[is_one], edges[place[is_one]])
        return edge


def _owned(edges: Integers, owner: Integers) -> Ranges:
    """Return the ranges between edges that have an owner; neighbours of one owner are joined."""
    first, end = edges[:-1], edges[1:]
    begins = owner != NOBODY
    first, end, owner = first[begins], end[begins], owner[begins]
    if not len(first):
        return Ranges(first, end, owner)
    is_new = np.ones(len(first), bool)
    is_new[1:] = (first[1:] != end[:-1]) | (owner[1:] != owner[:-1])
    starts = np.flatnonzero(is_new)
    ends = np.append(starts[1:], len(first)) - 1
    return Ranges(first[starts], end[ends], owner[starts])


class ExtentMap:
    """Owners of the sectors of a device at the time of the last allocation."""

    def __init__(self, before: Ranges) -> None:
        """Begin with the owners of before."""
        self._old = before
        self._recent = Ranges.of(())

    def allocate(self, allocations: Allocations) -> None:
        """Change owners by later allocations."""
        if not len(allocations.time_ns):
            return
        self._recent = self._recent.below(Ranges.painted(allocations))
        if len(self._recent.first) > _MOST_RECENT:
            self._old, self._recent = self._old.below(self._recent), Ranges.of(())

    def copy(self) -> ExtentMap:
        """Return the owners of now, which later allocations do not change."""
        copied = ExtentMap(self._old)
        copied._recent = self._recent
        return copied

    def owner_at(self, sectors: Integers) -> Integers:
        """Return the owner of each sector, or `NOBODY`."""
        recent = self._recent.owner_at(sectors)
        return np.where(recent == NOBODY, self._old.owner_at(sectors), recent)

    def next_edge(self, sectors: Integers) -> Integers:
        """Return the first sector after each one where the owner may change."""
        return np.minimum(self._recent.next_edge(sectors), self._old.next_edge(sectors))
