"""Footprint of trace windows on the drive: working set, skew, fill and recent writes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import polars as pl

from writeamp.errors import WriteampError
from writeamp.fields.domains import Number, Whole
from writeamp.statistics.power_sums import sum_of_powers
from writeamp.traces.intervals import end_to_end, union

HOTTEST_SHARE = 0.2


def skew_of_counts(
    counts: npt.NDArray[np.int64], group: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Return each group's skew: the share of writes to its most written fifth of the pages.

    It is the Lorenz curve's value for the top 0.2 of the pages, interpolated between pages.

    Args:
        counts: writes of each page, at least 1; shape (pages,).
        group: number of the group of pages, such as a window, for each page; shape (pages,).

    Returns:
        The groups in ascending order and their skews, both of shape (groups,).
    """
    # Sorting one combined number is many times faster than sorting by two keys.
    above = int(counts.max(initial=0)) + 1
    group, less = np.divmod(np.sort(group * above + (above - 1 - counts)), above)
    counts = above - 1 - less
    first = np.flatnonzero(np.r_[True, np.diff(group) > 0][: len(group)])
    pages = np.diff(np.r_[first, len(group)])
    sum_before = np.r_[0, np.cumsum(counts)]
    hottest = HOTTEST_SHARE * pages
    whole = np.floor(hottest).astype(np.int64)
    held = sum_before[first + whole] - sum_before[first] + (hottest - whole) * counts[first + whole]
    return group[first], held / (sum_before[first + pages] - sum_before[first])


def skew_of_hot_cold(hot_fraction: float, hot_write_fraction: float) -> float:
    """Return the skew of a workload with hot and cold pages (Rosenblum); either may be hotter."""
    kinds = [(hot_fraction, hot_write_fraction), (1 - hot_fraction, 1 - hot_write_fraction)]
    (hot, writes), (cold, rest) = sorted(kinds, key=lambda kind: kind[1] / kind[0], reverse=True)
    within_hot = min(HOTTEST_SHARE / hot, 1.0) * writes
    return within_hot + max(HOTTEST_SHARE - hot, 0.0) / cold * rest


def skew_of_zipf(exponent: float, slots: int) -> float:
    """Return the skew if each page's probability is proportional to its rank^−exponent."""
    hottest = HOTTEST_SHARE * slots
    whole = int(hottest)
    total, held = sum_of_powers(exponent, slots), sum_of_powers(exponent, whole)
    return float((held + (hottest - whole) * (whole + 1.0) ** -exponent) / total)


I64 = npt.NDArray[np.int64]

_PAGE_BYTES = 4096
_RECENT_NS = 60_000_000_000
# Limit of the pages held in memory at once. A single window may exceed it.
_CHUNK_PAGES = 1 << 22
_FILL = Number("be from 0 to 1", lambda value: 0 <= value <= 1)


def of_windows(
    requests: pl.DataFrame, window_ns: int, capacity_bytes: int | None, fill: float
) -> pl.DataFrame:
    """Return the footprint of each window, from the 4-KiB pages that its requests touch.

    The column `fill` is the share of pages written by the end of the window, but at least the
    argument `fill`; TRIMs are ignored.

    Args:
        requests: reads and writes in order of time, with ``timestamp_ns`` from the first request
            and ``window``, the window's number.
        window_ns: length of a window, in ns.
        capacity_bytes: capacity of the drive.
        fill: share of the capacity that holds data at the beginning.

    Raises:
        WriteampError: the capacity is missing or not valid.
    """
    if capacity_bytes is None:
        raise WriteampError(
            "the features need the drive's fill; give its capacity (--space, capacity_bytes)"
        )
    capacity = Whole(_PAGE_BYTES).check("capacity_bytes", capacity_bytes)
    _FILL.check("fill", fill)
    windows, rank = np.unique(requests["window"].to_numpy(), return_inverse=True)
    touched = _touched(requests, rank)
    written = touched.of(touched.writes > 0)
    skew = np.zeros(len(windows))
    of_window, skews = skew_of_counts(written.writes, written.window)
    skew[of_window] = skews
    written_by_then = np.cumsum(np.bincount(_first_windows(written), minlength=len(windows)))
    return pl.DataFrame(
        {
            "window": windows,
            "working_set_bytes": np.bincount(touched.window) * float(_PAGE_BYTES),
            "fill": np.clip(written_by_then * _PAGE_BYTES / capacity, fill, 1.0),
            "recent_write_bytes": _recent_bytes(requests, windows * window_ns),
            "skew": skew,
        }
    )


@dataclass(frozen=True)
class _Touched:
    """Distinct pages of each window and how often the window writes them; shape (pages,) each."""

    window: I64
    page: I64
    writes: I64

    def of(self, chosen: npt.NDArray[np.bool_]) -> _Touched:
        """Return the pages that a mask selects."""
        return _Touched(self.window[chosen], self.page[chosen], self.writes[chosen])


def _touched(requests: pl.DataFrame, rank: I64) -> _Touched:
    """Return the pages that the requests of each window touch, numbered without gaps."""
    extents = end_to_end(
        requests.select(
            "device",
            start=pl.col("offset") // _PAGE_BYTES,
            end=(pl.col("offset") + pl.col("length") + (_PAGE_BYTES - 1)) // _PAGE_BYTES,
        ),
        "trace",
    )
    footprint = union(extents)
    first = footprint.rank(extents["start"].to_numpy()).astype(np.int64)
    count = (extents["end"] - extents["start"]).to_numpy().astype(np.int64)
    is_write = (requests["op"] == "write").to_numpy().astype(np.int64)
    # Window, page and direction form one number, as sorting it is the fastest way to count.
    key = (rank * footprint.total + first) * 2 + is_write
    chunks = [_distinct(key[chunk], count[chunk]) for chunk in _chunks(rank, count)]
    keys, writes = (np.concatenate(arrays) for arrays in zip(*chunks, strict=True))
    window, page = np.divmod(keys, footprint.total)
    return _Touched(window, page, writes)


def _chunks(rank: I64, count: I64) -> Iterator[slice]:
    """Split the requests into slices of about `_CHUNK_PAGES` pages that end with a window."""
    edges = np.r_[np.flatnonzero(np.diff(rank)) + 1, len(rank)]
    full = np.cumsum(count)[edges - 1] // _CHUNK_PAGES
    cuts = np.r_[0, edges[np.r_[np.diff(full) > 0, True]]]
    return (slice(begin, end) for begin, end in pairwise(cuts))


def _distinct(key: I64, count: I64) -> tuple[I64, I64]:
    """Return the distinct pages in ascending order, and the number of writes to each."""
    within = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    touches = np.sort(np.repeat(key, count) + 2 * within)
    first = np.flatnonzero(np.r_[True, np.diff(touches >> 1) > 0])
    return touches[first] >> 1, np.add.reduceat(touches & 1, first)


def _first_windows(written: _Touched) -> I64:
    """Return for each written page the window in which it is first written."""
    windows = int(written.window.max(initial=0)) + 1
    page, window = np.divmod(np.sort(written.page * windows + written.window), windows)
    first: I64 = window[np.r_[True, np.diff(page) > 0][: len(page)]]
    return first


def _recent_bytes(requests: pl.DataFrame, begin_ns: I64) -> npt.NDArray[np.float64]:
    """Return the bytes written in the minute before each of the times `begin_ns`."""
    writes = requests.filter(pl.col("op") == "write")
    at_ns = writes["timestamp_ns"].to_numpy()
    total = np.r_[0.0, np.cumsum(writes["length"].to_numpy(), dtype=float)]
    since = np.searchsorted(at_ns, begin_ns - _RECENT_NS)
    recent: npt.NDArray[np.float64] = total[np.searchsorted(at_ns, begin_ns)] - total[since]
    return recent
