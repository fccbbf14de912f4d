"""Changed runs of a tagged trace: without the requests of a tag, and pages by their tag."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import polars as pl

from writeamp.studies.blame.tagging import NO_TAG
from writeamp.traces.intervals import union
from writeamp.traces.pages import PageTrace
from writeamp.traces.touching import OPS

_WRITE = OPS["write"]


def without_tag(pages: PageTrace, tag: int) -> PageTrace | None:
    """Return a trace without the requests of a tag; None if no write remains.

    Page numbers stay, so the remaining requests go to the same pages of the drive.
    """
    assert pages.tags is not None
    stays = pages.tags != tag
    is_write = (pages.op == _WRITE) & stays
    if not is_write.any():
        return None
    first = pages.start[is_write].astype(np.uint64)
    counts = pages.count[is_write].astype(np.uint64)
    extents = pl.DataFrame({"start": first, "end": first + counts})
    columns = ("op", "start", "count", "at_ns", "head_bytes", "tail_bytes", "fua")
    chosen = {name: getattr(pages, name) for name in columns}
    return replace(
        without_tags(pages),
        **{name: column[stays] for name, column in chosen.items() if column is not None},
        host_pages=int(counts.sum()),
        footprint_pages=union(extents).total,
        partial_pages=_partial_pages(pages, is_write),
    )


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
