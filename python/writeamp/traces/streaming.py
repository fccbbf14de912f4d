"""Conversion of data in memory to pages, batch by batch, with little memory.

The result is that of `to_pages` for the same requests. No data are sorted or copied: each batch is
added to columns that grow in place, and pages are numbered with one bit per written page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from writeamp._engine import PageSet, kept
from writeamp.traces.assemble import natural_order
from writeamp.traces.in_memory import BATCH_ROWS, TraceData
from writeamp.traces.touching import (
    MAX_PAGES,
    NEVER_WRITTEN,
    OPS,
    ends_too_far,
    left_out,
    refuse_large_footprint,
    touched_pages,
    with_bounds,
)
from writeamp.traces.trace import SCHEMA

_NAMES = {code: name for name, code in OPS.items()}


class GrowingRequests:
    """Requests of a trace in columns that grow batch by batch.

    A column takes no memory while all rows have its default value (`Column.usual`).
    """

    def __init__(self) -> None:
        """Begin without requests."""
        self.op = Column(np.uint8, OPS["write"])
        self.start = Column(np.uint32, 0, wider=np.uint64)
        self.count = Column(np.uint8, 1, wider=np.uint32)
        self.device = Column(np.uint8, 0, wider=np.uint32)
        self.head = Column(np.uint32, 0)
        self.tail = Column(np.uint32, 0)
        self.time = Column(np.int64, 0)

    def append(self, touched: pl.DataFrame) -> None:
        """Add the requests of a frame from `touched_pages`."""
        for column, values in self._values(touched):
            column.append(values)

    def replace(self, first: int, touched: pl.DataFrame) -> None:
        """Replace the requests from position `first` on by the requests of a frame."""
        for column, values in self._values(touched):
            column.replace(first, values)

    def _values(self, touched: pl.DataFrame) -> Iterator[tuple[Column, npt.NDArray[Any]]]:
        yield self.op, touched["op"].replace_strict(OPS, return_dtype=pl.UInt8).to_numpy()
        yield self.start, touched["start"].to_numpy()
        yield self.count, (touched["end"] - touched["start"]).to_numpy()
        yield self.device, touched["device"].to_numpy()
        yield self.head, touched["head"].to_numpy()
        yield self.tail, touched["tail"].to_numpy()
        yield self.time, touched["timestamp_ns"].to_numpy()

    def frame(self, first: int, end: int) -> pl.DataFrame:
        """Return the requests from `first` up to `end` in the form in which they were added."""
        op = pl.Series(self.op.between(first, end))
        start = pl.Series(self.start.between(first, end)).cast(pl.UInt64)
        return pl.DataFrame(
            {
                "device": pl.Series(self.device.between(first, end)).cast(SCHEMA["device"]),
                "op": op.replace_strict(_NAMES, return_dtype=SCHEMA["op"]),
                "timestamp_ns": self.time.between(first, end),
                "start": start,
                "end": start + pl.Series(self.count.between(first, end)).cast(pl.UInt64),
                "head": self.head.between(first, end),
                "tail": self.tail.between(first, end),
            }
        )


class Column:
    """Array that grows in place; it takes no memory while all values are the `usual` value."""

    def __init__(self, dtype: Any, usual: int, *, wider: Any = None) -> None:
        """Begin without values; if a value does not fit `dtype`, the array changes to `wider`."""
        self.dtype = np.dtype(dtype)
        self.usual = usual
        self.length = 0
        self._wider = wider
        self._values: npt.NDArray[Any] | None = None

    def append(self, values: npt.NDArray[Any]) -> None:
        """Add values at the end."""
        first, self.length = self.length, self.length + len(values)
        if self._values is None:
            if (values == self.usual).all():
                return
            self._values = np.full(first, self.usual, self.dtype)
        if self._wider is not None and len(values) and values.max() > np.iinfo(self.dtype).max:
            self.dtype, self._wider = np.dtype(self._wider), None
            self._values = self._values.astype(self.dtype)
        self._values.resize(self.length, refcheck=False)  # before other references exist
        self._values[first:] = values

    def between(self, first: int, end: int) -> npt.NDArray[Any]:
        """Return a copy of the values from `first` up to `end`, excluding `end`."""
        if self._values is None:
            return np.full(end - first, self.usual, self.dtype)
        return self._values[first:end].copy()

    def replace(self, first: int, values: npt.NDArray[Any]) -> None:
        """Overwrite the values from position `first` on by `values`."""
        if self._values is None:
            if (values == self.usual).all():
                return
            self._values = np.full(self.length, self.usual, self.dtype)
        self._values[first : first + len(values)] = values

    def finished(self, length: int, dtype: Any = None) -> npt.NDArray[Any]:
        """Return the first `length` values as a read-only array, and free the column."""
        values = self.taken(length, dtype)
        return kept(values) if values.flags.owndata else values

    def taken(self, length: int, dtype: Any = None) -> npt.NDArray[Any]:
        """Return the first `length` values as an array of type `dtype`, and free the column."""
        dtype = self.dtype if dtype is None else np.dtype(dtype)
        values, self._values = self._values, None
        if values is None:
            return np.broadcast_to(dtype.type(self.usual), (length,))
        values.resize(length, refcheck=False)
        return values.astype(dtype, copy=False)

    def forget(self) -> None:
        """Free the values, which are not needed any more."""
        self._values = None

    @property
    def is_usual(self) -> bool:
        """Whether all values are the usual value."""
        return self._values is None


class Collection:
    """Collector of a trace's batches as requests on pages, for `to_pages`."""

    def __init__(
        self,
        page_bytes: int,
        *,
        is_compact: bool,
        device: str | None,
        logical_pages: int | None,
        with_reads: bool,
    ) -> None:
        """Begin without requests."""
        self.page_bytes = page_bytes
        self.is_compact = is_compact
        self.device = device
        self.given_pages = logical_pages
        self.capacity_pages = logical_pages or MAX_PAGES
        self.with_reads = with_reads
        self.columns = GrowingRequests()
        self.names: list[str] = []
        self.lost: Counter[str] = Counter()
        self.host_pages = self.partial_pages = self.highest_end = self.rows = self.requests = 0
        self.notes: list[str] = []
        self.device_ends: tuple[int, ...] | None = None
        self.ignored: dict[str, None] = {}
        self._written: dict[int, PageSet] = {}
        self._accessed: dict[int, PageSet] = {}

    def add_all(self, source: TraceData) -> None:
        """Add all batches of a trace."""
        for reading, requests, devices in source.batches():
            self.names = devices.names
            self.ignored |= dict.fromkeys(reading.ignored)
            numbered = requests.with_row_index("row", offset=self.rows + 1)
            self.rows += requests.height
            if self.device is not None:
                code = self.names.index(self.device) if self.device in self.names else None
                numbered = numbered.filter(pl.col("device") == pl.lit(code, pl.UInt32))
            elif not self.is_compact and len(self.names) > 1:
                return  # the caller raises the error
            unit = 1 if reading.in_pages else self.page_bytes
            self._add(numbered, unit, "page" if reading.in_pages else "byte")

    def _add(self, requests: pl.DataFrame, unit: int, unit_name: str) -> None:
        touched, lost = touched_pages(requests, unit)
        self.lost.update(lost)
        if not self.is_compact:
            self._refuse_far_ends(touched, unit, unit_name)
        if not self.with_reads:
            touched = touched.with_columns(timestamp_ns=pl.lit(0, pl.Int64))
        writes = touched.filter(pl.col("op") == "write")
        self.host_pages += int((writes["end"] - writes["start"]).sum())
        self.partial_pages += int(writes["partial"].sum())
        _insert(self._written, writes)
        if self.with_reads and self.is_compact:
            _insert(self._accessed, touched.filter(pl.col("op").is_in(["write", "read"])))
        self.columns.append(touched)

    def _refuse_far_ends(self, touched: pl.DataFrame, unit: int, unit_name: str) -> None:
        """Reject writes and trims beyond the drive, and reads if they count like writes."""
        changing = ["write", "trim", *(["read"] if self.with_reads else [])]
        changed = touched.filter(pl.col("op").is_in(changing))
        far = changed.filter(pl.col("end_byte") > self.capacity_pages * unit)
        if not far.is_empty():
            row, end = far.select("row", "end_byte").row(0)
            raise ends_too_far(
                "the trace",
                row,
                f"{unit_name} {end}",
                page_bytes=self.page_bytes,
                logical_pages=self.given_pages,
            )
        if not changed.is_empty():
            self.highest_end = max(self.highest_end, int(changed["end"].max()))  # type: ignore[arg-type]

    @property
    def footprint_pages(self) -> int:
        """Number of distinct pages written."""
        return sum(pages.rank_all() for pages in self._written.values())

    def number(self) -> int:
        """Replace addresses by page numbers; return the number of pages that the drive needs."""
        if self.is_compact:
            return self._number_compact()
        needed = self.given_pages or self.highest_end
        bound = pl.Series([needed], dtype=pl.UInt64)

        def clipped(devices: pl.Series, pages: pl.Series) -> pl.Series:
            return pages.clip(upper_bound=bound)

        self._renumber(clipped, "pages beyond the end of the drive")
        return self.highest_end

    def _number_compact(self) -> int:
        """Number the pages in order of (device, address)."""
        numbered = self._accessed if self.with_reads else self._written
        bases, total = {}, 0
        for code in natural_order(self.names):
            bases[code] = total
            total += numbered[code].rank_all() if code in numbered else 0
        refuse_large_footprint("the trace", total, self.page_bytes, self.given_pages)
        ends = tuple(bases[code] + pages.rank_all() for code, pages in numbered.items())
        self.device_ends = tuple(sorted(ends)) if len(ends) > 1 else None

        def ranks(devices: pl.Series, pages: pl.Series) -> pl.Series:
            return _ranks(devices, pages, numbered, bases)

        self._renumber(ranks, NEVER_WRITTEN)
        return total

    def _renumber(self, number: Callable[[pl.Series, pl.Series], pl.Series], without: str) -> None:
        """Replace each request's pages by their numbers; requests without pages are left out.

        The remaining requests move forward in place, so that the columns are not copied.
        """
        lost: Counter[str] = Counter()
        end_of_remaining = 0
        for first in range(0, self.columns.op.length, BATCH_ROWS):
            touched = self.columns.frame(first, min(first + BATCH_ROWS, self.columns.op.length))
            is_flush = touched["op"] == "flush"
            start, end = (
                number(touched["device"], touched[name]).set(is_flush, 0).alias(name)
                for name in ("start", "end")
            )
            remaining, of_these = with_bounds(touched, start, end)
            lost.update(of_these)
            self.columns.replace(end_of_remaining, remaining)
            end_of_remaining += remaining.height
        self.columns.device.forget()
        self.requests = end_of_remaining
        self.notes = [*left_out(self.lost), *left_out(lost, without)]


def _insert(sets: dict[int, PageSet], touched: pl.DataFrame) -> None:
    for (code,), rows in touched.group_by("device"):
        counts = (rows["end"] - rows["start"]).cast(pl.UInt32)
        sets.setdefault(int(code), PageSet()).insert(rows["start"].to_numpy(), counts.to_numpy())


def _ranks(
    devices: pl.Series, pages: pl.Series, numbered: dict[int, PageSet], bases: dict[int, int]
) -> pl.Series:
    codes = devices.unique().to_list()
    if len(codes) == 1:
        return pl.Series(_ranks_of(codes[0], pages.to_numpy(), numbered, bases))
    ranks = np.empty(len(pages), np.uint64)
    of_rows, all_pages = devices.to_numpy(), pages.to_numpy()
    for code in codes:
        rows = of_rows == code
        ranks[rows] = _ranks_of(code, all_pages[rows], numbered, bases)
    return pl.Series(ranks)


def _ranks_of(
    code: int, pages: npt.NDArray[np.uint64], numbered: dict[int, PageSet], bases: dict[int, int]
) -> npt.NDArray[np.uint64]:
    if code not in numbered:  # a device without writes
        return np.full(len(pages), bases[code], np.uint64)
    return numbered[code].ranks(np.ascontiguousarray(pages)) + np.uint64(bases[code])
