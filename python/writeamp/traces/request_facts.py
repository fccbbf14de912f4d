"""Figures of a trace's requests: counts, bytes, footprints, rates and the skew of writes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from writeamp.traces.clocks import clock_of
from writeamp.traces.intervals import IntervalBounds, end_to_end

# Page size for counts of page writes. Most drives map logical pages of this size.
HEAT_PAGE_BYTES = 4096
_NS_PER_S = 1e9
_SPANS = 200


def facts_of(requests: pl.DataFrame, path: str) -> dict[str, Any]:
    """Return the figures of `info` that follow from a trace's requests; `path` is for errors."""
    counts = dict.fromkeys(_operations(requests), 0)
    counts |= dict(requests["op"].value_counts().rows())
    moved_bytes = {name: _sum_of_lengths(requests, name) for name in ("read", "write", "trim")}
    ends = requests.select("device", end=pl.col("offset") + pl.col("length"))
    extents = end_to_end(
        ends.with_columns(start=requests["offset"]), path, multiple=HEAT_PAGE_BYTES
    )
    written = IntervalBounds.of(extents.filter(requests["op"] == "write"))
    accessed = written
    if counts["read"]:
        accessed = IntervalBounds.of(extents.filter(requests["op"].is_in(["read", "write"])))
    return {
        "requests": requests.height,
        "writes": counts["write"],
        "reads": counts["read"],
        "trims": counts["trim"],
        "flushes": counts["flush"],
        "write_fraction": _ratio(counts["write"], counts["read"] + counts["write"]),
        "bytes_written": moved_bytes["write"],
        "bytes_read": moved_bytes["read"],
        "bytes_trimmed": moved_bytes["trim"],
        "unique_bytes_written": written.total,
        "footprint_bytes": accessed.total,
        "extent_bytes": sum(ends.group_by("device").max()["end"].to_list()),
        "duration_s": clock_of(requests).duration_s,
        "mean_write_bytes": _ratio(moved_bytes["write"], counts["write"]),
        "mean_read_bytes": _ratio(moved_bytes["read"], counts["read"]),
        "drive_writes": _ratio(moved_bytes["write"], written.total),
        "drive_writes_of": "unique_bytes_written",
        **_heat_of(written),
    }


def _heat_of(written: IntervalBounds) -> dict[str, Any]:
    """Return figures on how often pages are written; a partly written page counts as a whole."""
    heat = Heat.of(written.in_pages(HEAT_PAGE_BYTES))
    return {
        "page_bytes": HEAT_PAGE_BYTES,
        "pages_written": heat.pages,
        "page_writes": heat.writes,
        "writes_per_page": _ratio(heat.writes, heat.pages),
        "hottest_1pct_share": heat.share_of_hottest(0.01),
        "hottest_10pct_share": heat.share_of_hottest(0.1),
    }


def _operations(requests: pl.DataFrame) -> list[str]:
    """Return the names of all operations."""
    kind = requests.schema["op"]
    assert isinstance(kind, pl.Enum)
    return kind.categories.to_list()


def _sum_of_lengths(requests: pl.DataFrame, op: str) -> int:
    lengths = requests.filter(pl.col("op") == op)["length"]
    return int(lengths.cast(pl.UInt64).sum())


def _ratio(numerator: int, denominator: int) -> float | None:
    return numerator / denominator if denominator else None


def rates_of(requests: pl.DataFrame) -> tuple[list[float], dict[str, list[float]]]:
    """Return the ends of equal time spans, in s since the earliest request, and MB/s in each.

    The rates are those of `written` and `read` bytes, in units of 10^6 bytes per second.
    """
    since_ns = requests["timestamp_ns"] - requests["timestamp_ns"].min()
    # Without times, all requests are in one span.
    span_ns = max(1, -(-(int(since_ns.max()) + 1) // _SPANS))  # type: ignore[arg-type]
    spans = requests.select("op", span=since_ns // span_ns, bytes=pl.col("length").cast(pl.Float64))
    count = int(spans["span"].max()) + 1  # type: ignore[arg-type]
    rates = {}
    for name, op in (("written", "write"), ("read", "read")):
        sums = [0.0] * count
        moved = spans.filter(pl.col("op") == op).group_by("span").agg(pl.col("bytes").sum())
        for span, total in moved.iter_rows():
            sums[span] = total / 1e6 / (span_ns / _NS_PER_S)
        rates[name] = sums
    return [(span + 1) * span_ns / _NS_PER_S for span in range(count)], rates


_POINTS = 200


@dataclass(frozen=True)
class Heat:
    """Histogram of writes per page: ``pages_by_writes[n]`` pages are written n times.

    The shape is (most + 1,), where most is the number of writes of the most written page.
    """

    pages_by_writes: npt.NDArray[np.int64]

    @classmethod
    def of(cls, bounds: IntervalBounds) -> Heat:
        """Return the histogram of pages, given the first page and the end of each write."""
        return cls(bounds.lengths_by_cover())

    @property
    def pages(self) -> int:
        """Number of distinct written pages."""
        return int(self.pages_by_writes.sum())

    @property
    def writes(self) -> int:
        """Number of page writes."""
        return int(self._hottest[1][-1])

    def share_of_hottest(self, share: float) -> float | None:
        """Return the share of the page writes that go to a share of the written pages.

        The most written pages are taken, their number rounded up. Returns None if no page is
        written.
        """
        if not self.pages:
            return None
        return float(self._writes_to(np.array([math.ceil(share * self.pages)]))[0] / self.writes)

    def curve(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return the skew of writes as a curve of two shares, from 0 to 1.

        The first array has shares of the written pages, most written first; the second has the
        shares of all page writes that go to these pages.
        """
        at = np.unique(np.linspace(0, self.pages, _POINTS + 1).astype(int))
        return at / self.pages, self._writes_to(at) / self.writes

    def _writes_to(self, hottest: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """Return the page writes to the most written pages, for each number of pages."""
        pages, writes, times = self._hottest
        level = np.searchsorted(pages, hottest, side="right") - 1
        page_writes = writes[level] + (hottest - pages[level]) * times[level]
        return np.asarray(page_writes, np.int64)

    @cached_property
    def _hottest(self) -> tuple[npt.NDArray[np.int64], ...]:
        """Cumulative pages and writes, the most written pages first, and writes per page.

        The first two arrays begin with 0. The third has the writes per page of the pages that come
        next, and 0 at its end.
        """
        times = np.flatnonzero(self.pages_by_writes)[::-1]
        pages = self.pages_by_writes[times]
        pages_before = np.concatenate([[0], np.cumsum(pages)])
        return pages_before, np.concatenate([[0], np.cumsum(pages * times)]), np.append(times, 0)
