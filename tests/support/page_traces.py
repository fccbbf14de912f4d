"""Traces of pages, made by hand, and files of them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from writeamp.traces.pages import PageTrace

WRITE, TRIM, READ = range(3)


def msr_file(path: Path, pages: Iterable[int]) -> Path:
    """Write a trace in the format of MSR whose requests write a page each; return its path."""
    row = "128166372003061629,hm,0,Write,{},4096,100\n"
    path.write_text("".join(row.format(page * 4096) for page in pages))
    return path


def page_trace(
    pages: npt.ArrayLike,
    op: npt.ArrayLike | None = None,
    *,
    counts: npt.ArrayLike | None = None,
    logical_pages: int | None = None,
    every_ns: int | None = None,
    notes: tuple[str, ...] = (),
) -> PageTrace:
    """Return a trace of requests.

    Args:
        pages: first page of each.
        op: operation of each; all write by default.
        counts: pages of each; one by default.
        logical_pages: of the drive; by default as many as the requests reach.
        every_ns: time between two requests; without it, they have no times.
        notes: what is to be said of the trace.
    """
    start = np.asarray(pages, np.uint32)
    kind = np.full(start.size, WRITE, np.uint8) if op is None else np.asarray(op, np.uint8)
    count = np.ones(start.size, np.uint32) if counts is None else np.asarray(counts, np.uint32)
    written = kind == WRITE
    touched = np.repeat(start[written] - np.cumsum(count[written]), count[written])
    at_ns = None
    if every_ns is not None:
        at_ns = np.arange(start.size, dtype=np.uint64) * np.uint64(every_ns)
    return PageTrace(
        op=kind,
        start=start,
        count=count,
        logical_pages=logical_pages or int((start + count).max()),
        footprint_pages=np.unique(touched + np.arange(touched.size, dtype=np.uint32)).size,
        host_pages=int(count[written].sum()),
        partial_pages=0,
        page_bytes=4096,
        mapping="compact",
        notes=[*notes],
        at_ns=at_ns,
    )
