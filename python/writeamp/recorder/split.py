"""Pieces of requests, each with one owner at the time of the request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from writeamp.recorder.extents import NO_OWNER, Allocations, Changes, ExtentMap, Integers

# Allocations are sorted by place and time in chunks of this size, as overlaps may be its square.
_CHUNK = 2048


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
        first, end: their ranges of sectors; one without sectors is one piece of no owner.
        extents: owners before the requests; afterwards `new` is allocated.
        new: allocations since the last call.
    """
    chunks = list(new.chunks(_CHUNK))
    starts = [int(chunk.time_ns[0]) for chunk in chunks[1:]]
    bounds = [0, *time_ns.searchsorted(starts).tolist(), len(time_ns)]
    parts = []
    for chunk, low, high in zip(chunks, bounds, bounds[1:], strict=False):
        changes = Changes(extents.new_among(chunk))
        places = np.arange(low, high)
        parts.append(_pieces(places, time_ns, (first[places], end[places]), extents, changes))
        extents.allocate(changes)
    return _joined(_in_order(parts))


def _pieces(
    request: Integers,
    time_ns: Integers,
    ranges: tuple[Integers, Integers],
    extents: ExtentMap,
    changes: Changes,
) -> Pieces:
    """Return the pieces of requests, in the order of their places within the requests."""
    first, end = ranges
    parts = []
    while True:
        has_range = end > first
        changed = changes.owner_at(first, time_ns[request])
        owner = np.where(changed == NO_OWNER, extents.owner_at(first), changed)
        edge = np.minimum(extents.next_edge(first), changes.next_edge(first))
        edge = np.where(has_range, np.minimum(edge, end), end)
        parts.append(Pieces(request, first, edge, np.where(has_range, owner, NO_OWNER)))
        rest = edge < end
        if not rest.any():
            return _in_order(parts)
        request, first, end = request[rest], edge[rest], end[rest]


def _in_order(parts: Sequence[Pieces]) -> Pieces:
    """Return the pieces of all parts in the order of requests and sectors."""
    columns = zip(*(vars(each).values() for each in parts), strict=True)
    request, first, end, owner = (np.concatenate(column) for column in columns)
    order = np.lexsort((first, request))
    return Pieces(request[order], first[order], end[order], owner[order])


def _joined(pieces: Pieces) -> Pieces:
    """Return pieces in which neighbours of one request and owner are one piece."""
    request, owner = pieces.request, pieces.owner
    is_new = np.ones(len(request), bool)
    is_new[1:] = (request[1:] != request[:-1]) | (owner[1:] != owner[:-1])
    starts = np.flatnonzero(is_new)
    last = np.append(starts[1:], len(request))[: len(starts)] - 1
    return Pieces(request[starts], pieces.first[starts], pieces.end[last], owner[starts])
