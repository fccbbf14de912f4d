"""Facts of one volume: number, sizes, skew, update intervals and order of its requests."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from writeamp.traces.request_facts import Heat

# Page size in bytes for counting writes: the mapping unit of most drives.
PAGE_BYTES = 4096
_PAGE_SHIFT = np.uint64(12)
READ, WRITE = 0, 1
# If a volume has at most this many pages per write, use a counter for each page. Otherwise sort the
# writes, to save memory.
_COUNTERS_PER_WRITE = 8
_FEWEST_COUNTERS = 1 << 16
# The median update interval uses all writes up to the first number. If there are more, it uses a
# sample of a quarter of them, but at least the first and at most the second number.
_FEWEST_SAMPLED, _MOST_SAMPLED = 1 << 13, 1 << 18
_KEY_BITS = 63

_Array = npt.NDArray[Any]

FACTS: dict[str, Any] = {
    "volume": pl.String,
    "requests": pl.Int64,
    "reads": pl.Int64,
    "writes": pl.Int64,
    "bytes_read": pl.Int64,
    "bytes_written": pl.Int64,
    "page_writes": pl.Int64,
    "written_set_bytes": pl.Int64,
    "drive_writes": pl.Float64,
    "hottest_1pct_share": pl.Float64,
    "hottest_10pct_share": pl.Float64,
    "median_update_interval_s": pl.Float64,
    "sequential_share": pl.Float64,
    "first_ns": pl.Int64,
    "last_ns": pl.Int64,
    "span_s": pl.Float64,
    "digest": pl.String,
    "file": pl.Int64,
    "first_row": pl.Int64,
}


@dataclass(frozen=True)
class Columns:
    """Requests of one volume in their order, as columns of shape (requests,).

    `op` is the index of the operation in `writeamp.traces.OPERATIONS`.
    """

    timestamp_ns: npt.NDArray[np.int64]
    op: npt.NDArray[np.uint8]
    offset: npt.NDArray[np.uint64]
    length: npt.NDArray[np.uint32]

    def __len__(self) -> int:
        """Return the number of requests."""
        return len(self.op)

    def slice(self, first: int, end: int) -> Columns:
        """Return the requests from `first` to before `end`."""
        rows = slice(first, end)
        return Columns(self.timestamp_ns[rows], self.op[rows], self.offset[rows], self.length[rows])


def facts_of(name: str, columns: Columns) -> dict[str, Any]:
    """Return the facts of a volume with the names of `FACTS`, except `file` and `first_row`.

    `page_writes` counts writes to pages of 4 KiB; a partly written page counts as one write.
    `drive_writes` is the mean number of writes per written page. The shares of writes to the
    hottest pages are defined as in `writeamp.traces.info`. `sequential_share` is the share of
    requests that begin where the volume's previous request ended. An update interval is the time
    from a write of a page to its next write; with many writes, the median is taken over every n-th
    page only.
    """
    end = columns.offset + columns.length
    is_write = columns.op == WRITE
    # Indices of the selected rows are used, because a boolean mask takes five times as long.
    reads = np.flatnonzero(columns.op == READ)
    written = np.flatnonzero(is_write & (columns.length > 0))
    start_page = np.take(columns.offset, written) >> _PAGE_SHIFT
    end_page = (np.take(end, written) + np.uint64(PAGE_BYTES - 1)) >> _PAGE_SHIFT
    heat = _heat(start_page, end_page)
    follows = np.count_nonzero(columns.offset[1:] == end[:-1])
    first_ns, last_ns = int(columns.timestamp_ns.min()), int(columns.timestamp_ns.max())
    page_writes = heat.writes if heat.pages else 0
    return {
        "volume": name,
        "requests": len(columns),
        "reads": len(reads),
        "writes": int(np.count_nonzero(is_write)),
        "bytes_read": int(np.take(columns.length, reads).sum(dtype=np.uint64)),
        "bytes_written": int(np.take(columns.length, written).sum(dtype=np.uint64)),
        "page_writes": page_writes,
        "written_set_bytes": heat.pages * PAGE_BYTES,
        "drive_writes": page_writes / heat.pages if heat.pages else None,
        "hottest_1pct_share": heat.share_of_hottest(0.01),
        "hottest_10pct_share": heat.share_of_hottest(0.1),
        "median_update_interval_s": _median_update_interval_s(
            start_page, end_page, np.take(columns.timestamp_ns, written)
        ),
        "sequential_share": follows / len(columns),
        "first_ns": first_ns,
        "last_ns": last_ns,
        "span_s": (last_ns - first_ns) / 1e9,
        "digest": _digest(columns),
    }


def _heat(start_page: _Array, end_page: _Array) -> Heat:
    """Return how many pages are written n times; use a counter per page if pages are few."""
    if len(start_page) == 0:
        return Heat(np.zeros(1, np.int64))
    lowest = int(start_page.min())
    span = int(end_page.max()) - lowest
    if span > max(_FEWEST_COUNTERS, _COUNTERS_PER_WRITE * len(start_page)):
        return Heat(_sparse_cover(start_page, end_page))
    begins = np.bincount((start_page - np.uint64(lowest)).astype(np.int64), minlength=span + 1)
    begins -= np.bincount((end_page - np.uint64(lowest)).astype(np.int64), minlength=span + 1)
    by_writes = np.bincount(np.cumsum(begins, out=begins)[:-1])
    by_writes[0] = 0
    return Heat(by_writes)


def _sparse_cover(start_page: _Array, end_page: _Array) -> npt.NDArray[np.int64]:
    """Return how many pages are written n times, from the sorted starts and ends of writes."""
    events = np.concatenate([start_page * np.uint64(2) + np.uint64(1), end_page * np.uint64(2)])
    events.sort()
    cover = np.cumsum((events & np.uint64(1)).astype(np.int64) * 2 - 1)
    lengths = np.diff(events >> np.uint64(1)).astype(np.int64)
    by_writes = np.bincount(cover[:-1], weights=lengths).astype(np.int64)
    by_writes[0] = 0
    return np.trim_zeros(by_writes, "b")


def _median_update_interval_s(
    start_page: _Array, end_page: _Array, at_ns: npt.NDArray[np.int64]
) -> float | None:
    """Return median seconds between writes of a page; None if no sampled page is rewritten."""
    if len(start_page) == 0:
        return None
    lowest = start_page.min()
    start = (start_page - lowest).astype(np.int64)
    count = (end_page - start_page).astype(np.int64)
    writes = int(count.sum())
    every = _next_prime(-(-writes // max(_FEWEST_SAMPLED, min(writes // 4, _MOST_SAMPLED))))
    if every > 1:
        end = start + count
        start = -(-start // every) * every
        count = np.maximum(-(-(end - start) // every), 0)
    request = np.repeat(np.arange(len(start)), count)
    first_of = np.cumsum(count) - count
    page = start[request] + (np.arange(len(request)) - first_of[request]) * every
    # Page and request number are packed into one integer, which sorts many times faster than two
    # keys.
    bits = len(start).bit_length()
    if int(page.max(initial=0)).bit_length() + bits < _KEY_BITS:
        key = page << bits | request
        key.sort()
        page, when = key >> bits, at_ns[key & ((1 << bits) - 1)]
    else:
        order = np.lexsort((request, page))
        page, when = page[order], at_ns[request[order]]
    intervals = np.diff(when)[page[1:] == page[:-1]]
    return float(np.median(intervals)) / 1e9 if len(intervals) else None


def _next_prime(least: int) -> int:
    """Return the next prime from `least` on, or 1. A prime step avoids bias by round addresses.

    >>> [_next_prime(least) for least in (0, 1, 2, 8, 90)]
    [1, 1, 2, 11, 97]
    """
    candidate = max(1, least)
    while candidate > 1 and any(
        candidate % divisor == 0 for divisor in range(2, math.isqrt(candidate) + 1)
    ):
        candidate += 1
    return candidate


def _digest(columns: Columns) -> str:
    """Return a digest of the volume's requests, which identifies its runs."""
    digest = hashlib.blake2b(digest_size=16)
    for column in (columns.timestamp_ns, columns.op, columns.offset, columns.length):
        digest.update(np.ascontiguousarray(column).data)
    return digest.hexdigest()
