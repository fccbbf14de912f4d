"""Changed runs of a tagged trace: without the requests of a tag, and pages by their tag."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from writeamp.traces.pages import PageTrace
from writeamp.traces.touching import OPS
from writeamp.traces.words import NO_TAG

_WRITE, _TRIM, _READ = OPS["write"], OPS["trim"], OPS["read"]
# Columns of a trace in pages, except its tags.
_COLUMNS = ("op", "start", "count", "at_ns", "head_bytes", "tail_bytes", "fua")


def without_tag(pages: PageTrace, tag: int) -> PageTrace | None:
    """Return a trace without the requests of a tag; None if no write remains.

    Page numbers stay, so the remaining requests go to the same pages of the drive. Pages that only
    the tag writes keep their data, so the trims of other tags do not free them. Otherwise, they
    would free data from before the run that nothing ever writes again.
    """
    assert pages.tags is not None
    stays = pages.tags != tag
    is_write = pages.op == _WRITE
    others = is_write & stays
    if not others.any():
        return None
    written = _writes_of_pages(pages, others) > 0
    only_of_tag = (_writes_of_pages(pages, is_write & ~stays) > 0) & ~written
    remaining = replace(
        _rows(*_with_ends(without_tags(pages), stays)),
        host_pages=int(pages.count[others].sum(dtype=np.int64)),
        footprint_pages=int(written.sum()),
        partial_pages=_partial_pages(pages, others),
    )
    return _with_cut_trims(remaining, only_of_tag)


def length_without(pages: PageTrace, tag: int, length: int, *, in_bytes: bool = False) -> int:
    """Return how much of the first writes of a looped trace remains without a tag.

    Args:
        pages: the trace.
        tag: number of the tag.
        length: host pages that all tags write, or their bytes.
        in_bytes: whether lengths are in bytes.
    """
    assert pages.tags is not None
    is_write = pages.op == _WRITE
    sizes = pages.count[is_write].astype(np.int64)
    if in_bytes:
        sizes *= pages.page_bytes
        for column in (pages.head_bytes, pages.tail_bytes):
            sizes -= 0 if column is None else column[is_write].astype(np.int64)
    stays = pages.tags[is_write] != tag
    ends = np.cumsum(sizes)
    passes, rest = divmod(length, int(ends[-1]))
    of_rest = np.clip(rest - (ends - sizes), 0, sizes)
    return int(passes * sizes[stays].sum() + of_rest[stays].sum())


def _rows(pages: PageTrace, rows: npt.NDArray[Any]) -> PageTrace:
    """Return the chosen requests, with the counts of all."""
    columns = {name: getattr(pages, name) for name in _COLUMNS}
    return replace(
        pages, **{name: column[rows] for name, column in columns.items() if column is not None}
    )


def _with_ends(
    pages: PageTrace, stays: npt.NDArray[np.bool_]
) -> tuple[PageTrace, npt.NDArray[np.bool_]]:
    """Return a trace whose first and last request stay, as reads of a page if they should go.

    A timed pass lasts from the first request to the last one. A shorter pass would be a load with
    more writes per second.
    """
    ends = [at for at in (0, stays.size - 1) if not stays[at]]
    if not ends or pages.at_ns is None or not pages.at_ns.any():
        return pages, stays
    changes = {"op": _READ, "count": 1, "head_bytes": 0, "tail_bytes": 0, "fua": 0}
    columns = {name: getattr(pages, name) for name in changes}
    columns = {name: column.copy() for name, column in columns.items() if column is not None}
    for name, column in columns.items():
        column[ends] = changes[name]
    stays = stays.copy()
    stays[ends] = True
    return replace(pages, **columns), stays


def _with_cut_trims(pages: PageTrace, untouched: npt.NDArray[np.bool_]) -> PageTrace:
    """Return a trace whose trims leave out some pages; a trim may become several, or none.

    Args:
        pages: the trace.
        untouched: whether a logical page is left out, shape (logical_pages,).
    """
    is_trim = pages.op == _TRIM
    if not is_trim.any() or not untouched.any():
        return pages
    # Starts and ends of the runs of pages that trims still reach.
    edges = np.flatnonzero(np.diff(np.r_[True, untouched, True]))
    starts, ends = edges[::2], edges[1::2]
    start = pages.start.astype(np.int64)
    end = start + pages.count
    first = np.where(is_trim, np.searchsorted(ends, start, side="right"), 0)
    parts = np.where(is_trim, np.searchsorted(starts, end) - first, 1)
    rows = np.repeat(np.arange(parts.size), parts)
    run = first[rows] + np.arange(rows.size) - np.repeat(np.cumsum(parts) - parts, parts)
    of_trims = is_trim[rows]
    cut = _rows(pages, rows)
    start, end = start[rows], end[rows]
    start[of_trims] = np.maximum(start[of_trims], starts[run[of_trims]])
    end[of_trims] = np.minimum(end[of_trims], ends[run[of_trims]])
    return replace(cut, start=start.astype(np.uint32), count=(end - start).astype(np.uint32))


def without_tags(pages: PageTrace) -> PageTrace:
    """Return a trace whose runs do not count by tag, which is faster."""
    return replace(pages, tags=None, tag_names=None)


def _partial_pages(pages: PageTrace, is_write: npt.NDArray[np.bool_]) -> int:
    """Return the number of page writes that cover a page only partly."""
    cuts = np.zeros(int(is_write.sum()), np.uint8)
    for column in (pages.head_bytes, pages.tail_bytes):
        if column is not None:
            cuts += column[is_write] > 0
    return int(np.minimum(cuts, pages.count[is_write]).sum())


def owners(pages: PageTrace, tags: int) -> npt.NDArray[np.uint8]:
    """Return the tag that writes each logical page most often, shape (logical_pages,).

    Of tags with equally many writes, the one with the smaller number owns a page. Pages that no tag
    writes have `NO_TAG`.
    """
    assert pages.tags is not None
    owner = np.full(pages.logical_pages, NO_TAG, np.uint8)
    most = np.zeros(pages.logical_pages, np.int64)
    for tag in range(tags):
        of_tag = (pages.op == _WRITE) & (pages.tags == tag)
        writes = _writes_of_pages(pages, of_tag)
        owner[writes > most] = tag
        np.maximum(most, writes, out=most)
    return owner


def _writes_of_pages(pages: PageTrace, chosen: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """Return how often the chosen requests write each logical page."""
    start = pages.start[chosen].astype(np.int64)
    end = start + pages.count[chosen]
    size = pages.logical_pages + 1
    changes = np.bincount(start, minlength=size) - np.bincount(end, minlength=size)
    return np.cumsum(changes[:-1])
