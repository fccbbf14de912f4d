"""Pieces of requests, each with one owner."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from writeamp.recorder.extents import NOBODY, Allocations, ExtentMap, Integers, Ranges


@dataclass(frozen=True)
class Pieces:
    """Pieces of requests in the order of the requests; each array has the shape (pieces,).

    `request` is the place of the request.
    """

    request: Integers
    first: Integers
    end: Integers
    owner: Integers


def pieces_of(
    time_ns: Integers, first: Integers, end: Integers, extents: ExtentMap, new: Allocations
) -> Pieces:
    """Return the pieces of requests, and allocate `new`.

    Args:
        time_ns: times of the requests, in order.
        first, end: their ranges of sectors; a request without sectors is one piece of nobody.
        extents: owners before the requests; afterwards `new` is allocated.
        new: allocations of about the same time.
    """
    before = extents.copy()
    extents.allocate(new)
    late = _has_later_allocation(time_ns, first, end, new)
    on_time = np.flatnonzero(~late)
    parts = [_pieces(on_time, first[on_time], end[on_time], extents)]
    for place in np.flatnonzero(late):
        then = before.copy()
        then.allocate(new.until(int(time_ns[place])))
        at = np.array([place])
        parts.append(_pieces(at, first[at], end[at], then))
    columns = zip(*(vars(part).values() for part in parts), strict=True)
    request, piece_first, piece_end, owner = (np.concatenate(column) for column in columns)
    order = np.lexsort((piece_first, request))
    return Pieces(request[order], piece_first[order], piece_end[order], owner[order])


def _has_later_allocation(
    time_ns: Integers, first: Integers, end: Integers, new: Allocations
) -> np.ndarray:
    """Return for each request whether a part of its range is allocated after it.

    Such a range belonged to another file, which was deleted, when the request was issued.
    """
    late = np.zeros(len(time_ns), bool)
    if not len(new.time_ns) or not len(time_ns):
        return late
    numbered = Allocations(new.time_ns, new.first, new.end, np.arange(len(new.time_ns)))
    latest = Ranges.painted(numbered)
    low = latest.end.searchsorted(first, "right")
    high = latest.first.searchsorted(end, "left")
    # A request rarely overlaps more than a few new ranges.
    for step in range(int((high - low).max(initial=0))):
        place = low + step
        overlaps = place < high
        owner = latest.owner[np.minimum(place, len(latest.owner) - 1)]
        late |= overlaps & (new.time_ns[owner] > time_ns)
    return late


def _pieces(request: Integers, first: Integers, end: Integers, extents: ExtentMap) -> Pieces:
    """Return the pieces of requests by the owners of now."""
    parts = []
    while len(request):
        has_range = end > first
        owner = np.where(has_range, extents.owner_at(first), NOBODY)
        edge = np.where(has_range, np.minimum(extents.next_edge(first), end), end)
        parts.append(Pieces(request, first, edge, owner))
        rest = edge < end
        request, first, end = request[rest], edge[rest], end[rest]
    if not parts:
        return Pieces(request, first, end, first)
    columns = zip(*(vars(part).values() for part in parts), strict=True)
    request, first, end, owner = (np.concatenate(column) for column in columns)
    order = np.lexsort((first, request))
    return _joined(Pieces(request[order], first[order], end[order], owner[order]))


def _joined(pieces: Pieces) -> Pieces:
    """Return pieces in which neighbours of one request and owner are one piece."""
    is_new = np.ones(len(pieces.request), bool)
    is_new[1:] = (pieces.request[1:] != pieces.request[:-1]) | (
        pieces.owner[1:] != pieces.owner[:-1]
    )
    starts = np.flatnonzero(is_new)
    ends = np.append(starts[1:], len(is_new)) - 1
    return Pieces(
        pieces.request[starts], pieces.first[starts], pieces.end[ends], pieces.owner[starts]
    )
