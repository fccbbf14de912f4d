"""Traces of flash pages: byte ranges become page requests on a drive."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from writeamp._engine import MOST_TAGS, UNTAGGED, kept
from writeamp.errors import WriteampError, unknown
from writeamp.fields.domains import Whole, shown
from writeamp.plots.figures.traces import writes_by_heat
from writeamp.plots.spec import LineChart
from writeamp.results.card import Card
from writeamp.results.drawn import Drawn
from writeamp.text import shortened
from writeamp.traces.assemble import natural_order
from writeamp.traces.in_memory import TraceData
from writeamp.traces.in_memory_rows import ignored_columns
from writeamp.traces.intervals import (
    IntervalBounds,
    IntervalUnion,
    end_to_end,
    ends_of_devices,
    union,
)
from writeamp.traces.request_facts import Heat
from writeamp.traces.streaming import Collection
from writeamp.traces.touching import (
    MAX_PAGES,
    NEVER_WRITTEN,
    OPS,
    left_out,
    refuse_far_ends,
    refuse_large_footprint,
    touched_pages,
    with_bounds,
)
from writeamp.traces.trace import SECTOR_BYTES, Trace, check_trace
from writeamp.traces.words import MAPPINGS, Mapping

U32 = npt.NDArray[np.uint32]

_LARGEST_PAGE_BYTES = 2**24
_PAGES = Whole(1, MAX_PAGES)
_PAGE_BYTES = Whole(SECTOR_BYTES, _LARGEST_PAGE_BYTES)


@dataclass(frozen=True, eq=False)
class PageTrace(Drawn):
    """Trace in flash pages: requests on runs of consecutive logical pages, in order.

    Attributes:
        op: u8, 0 for a write, 1 for a trim, 2 for a read and 3 for a flush; shape (requests,), as
            the other columns.
        start: u32, first logical page; 0 for a flush.
        count: u32, number of pages of a request, at least 1; 0 for a flush. For data in memory it
            is u8 if all counts fit, and takes no memory if all are 1.
        logical_pages: pages of the smallest drive that ``start`` and ``count`` fit.
        footprint_pages: number of distinct pages written.
        host_pages: number of page writes (the sum of ``count`` over the writes).
        partial_pages: number of page writes whose request covers the page only partly.
        page_bytes: size of a page.
        mapping: how addresses became page numbers.
        notes: sentences on requests that were left out.
        at_ns: u64, time since the earliest of these requests; None if times are not used.
        head_bytes: u32, bytes of the first page that lie before the request; None if 0 for all.
        tail_bytes: u32, bytes of the last page that lie after the request; None if 0 for all.
        fua: u8, 1 for a request that had to be durable before its completion; None if 0 for all.
        path: the file that the trace was read from; empty for data in memory.
        device_ends: the page after the last page of each device, if there are several devices.
            Placements that use page groups get each device as one group. None for one device.
        tag_names: names of tags, or None. A run counts host writes and flash programs by tag
            (`by_tag` of its result).
        tags: u8, index in ``tag_names`` for each request, or 255 for a request without a tag;
            None if ``tag_names`` is None.
        are_tags_hints: whether the tags are placement hints: a run then counts by the handles of
            its block manager instead, if that has handles.
    """

    op: npt.NDArray[np.uint8]
    start: U32
    count: U32 | npt.NDArray[np.uint8]
    logical_pages: int
    footprint_pages: int
    host_pages: int
    partial_pages: int
    page_bytes: int
    mapping: Mapping
    notes: list[str] = field(default_factory=list)
    at_ns: npt.NDArray[np.uint64] | None = None
    head_bytes: U32 | None = None
    tail_bytes: U32 | None = None
    fua: npt.NDArray[np.uint8] | None = None
    path: str = ""
    device_ends: tuple[int, ...] | None = None
    tag_names: tuple[str, ...] | None = None
    are_tags_hints: bool = False
    tags: npt.NDArray[np.uint8] | None = None

    @cached_property
    def digest(self) -> str:
        """SHA-256 of operations and pages, and of times, partial pages and FUA if present.

        Computed once, since a large trace takes seconds.
        """
        header = f"pages {self.page_bytes} {self.logical_pages} {self.device_ends or ''}".rstrip()
        hasher = hashlib.sha256(header.encode())
        columns: list[npt.NDArray[Any]] = [self.op, self.start, self.count]
        may_lack = (self.at_ns, self.head_bytes, self.tail_bytes, self.fua)
        columns += [column for column in may_lack if column is not None and column.any()]
        if self.tags is not None:
            hasher.update(repr(self.tag_names).encode())
            hasher.update(b"hints" if self.are_tags_hints else b"")
            columns.append(self.tags)
        for column in columns:
            little_endian = column.astype(column.dtype.newbyteorder("<"))
            hasher.update(np.ascontiguousarray(little_endian).tobytes())
        return f"sha256:{hasher.hexdigest()}"

    @cached_property
    def analyses(self) -> dict[tuple[Any, ...], Any]:
        """Cached analyses of this trace, by analysis and arguments, for use in several runs."""
        return {}

    def without_requests(self) -> PageTrace:
        """Return the trace with empty columns; counts and other attributes stay."""
        none = slice(0)
        return replace(
            self,
            op=self.op[none],
            start=self.start[none],
            count=self.count[none],
            at_ns=None,
            head_bytes=None,
            tail_bytes=None,
            fua=None,
            tags=None,
        )

    def tagged(self, names: Sequence[str], tags: npt.ArrayLike) -> PageTrace:
        """Return the trace with a tag for each request; its runs count by tag.

        Args:
            names: names of the tags, at most 254.
            tags: index in `names` for each request, or 255 for no tag; shape (requests,).

        Raises:
            WriteampError: there are too many names, or the tags do not fit.
        """
        codes = np.asarray(tags)
        if len(names) > MOST_TAGS:
            raise WriteampError(
                f"{len(names)} tags are too many: a run counts by at most {MOST_TAGS} tags"
            )
        is_index = (codes >= 0) & (codes < len(names)) | (codes == UNTAGGED)
        if codes.shape != self.op.shape or codes.dtype.kind not in "ui" or not is_index.all():
            raise WriteampError(
                f"tags have shape {codes.shape} and type {codes.dtype}; valid are {self.op.size} "
                f"integers from 0 to {len(names) - 1}, or {UNTAGGED} for no tag"
            )
        return replace(self, tag_names=tuple(names), tags=codes.astype(np.uint8))

    def tagged_by_device(self, names: Sequence[str]) -> PageTrace:
        """Return the trace with the device of each request as its tag.

        Args:
            names: names of the devices, in the order of their pages.

        Raises:
            WriteampError: there are too many devices, or not one name for each.
        """
        ends = self.device_ends or (self.logical_pages,)
        if len(names) != len(ends):
            raise WriteampError(f"{len(names)} names for {len(ends)} devices; give one for each")
        return self.tagged(names, np.searchsorted(ends, self.start, side="right"))

    def _records(self) -> list[dict[str, Any]]:
        counts = {f"{name}s": int((self.op == number).sum()) for name, number in OPS.items()}
        names = ("page_bytes", "logical_pages", "footprint_pages", "host_pages", "partial_pages")
        sizes = {name: getattr(self, name) for name in names}
        return [{"path": self.path, "mapping": self.mapping} | sizes | counts]

    def card(self) -> Card:
        """Return the main facts of the page trace as a card."""
        rows = [
            ("page writes", f"{self.host_pages:,}, of {self.page_bytes:,} bytes each"),
            ("distinct pages written", f"{self.footprint_pages:,}"),
            ("smallest drive", f"{self.logical_pages:,} logical pages"),
            ("partial page writes", f"{self.partial_pages:,}"),
            ("requests", f"{self.op.size:,}"),
            ("mapping", self.mapping),
        ]
        return Card(f"Pages of {self.path or 'a trace in memory'}", rows, notes=self.notes)

    def figure(self) -> LineChart:
        """Return a figure of the skew of the writes: their share on the most written pages.

        Raises:
            WriteampError: the trace is without its requests.
        """
        is_write = self.op == OPS["write"]
        if not is_write.any():
            raise WriteampError(
                "this trace has only counts, without its requests, so its skew is unknown"
            )
        first = self.start[is_write].astype(np.uint64)
        extents = pl.DataFrame({"start": first, "end": first + self.count[is_write]})
        pages, writes = Heat.of(IntervalBounds.of(extents)).curve()
        return writes_by_heat(
            pages.tolist(),
            writes.tolist(),
            title=f"How uneven writes are: {self.path or 'a trace in memory'}",
            subtitle=(
                f"{self.host_pages:,} page writes to {self.footprint_pages:,} pages of "
                f"{self.page_bytes:,} bytes"
            ),
        )


def to_pages(
    trace: Trace | Any,
    page_bytes: int = 4096,
    *,
    mapping: Mapping = "compact",
    device: str | None = None,
    logical_pages: int | None = None,
    with_reads: bool = False,
    tag_names: Sequence[str] | None = None,
    tags: npt.ArrayLike | None = None,
) -> PageTrace:
    """Return a trace's requests in flash pages.

    Rules:
        - A write touches every page it overlaps, pages ``floor(offset / page_bytes)`` to
          ``ceil(end / page_bytes) - 1``. A partly covered page is programmed completely, and
          counted in ``partial_pages``.
        - A read touches every page it overlaps, and a trim frees only pages that it covers
          entirely. Requests of zero bytes other than flushes are left out.
        - ``compact`` numbers the distinct pages that the trace writes in order of
          (device, address), from 0. Neighbours stay neighbours, so a write stays one run of pages.
          A trim stays one run too, since written pages between two addresses have consecutive
          numbers.
          Trims and reads lose pages that the trace never writes, and are left out if no page
          remains. With ``with_reads``, all pages that the trace writes or reads are numbered, so
          that no read is lost.
        - ``as-is`` uses ``offset / page_bytes`` as the page number, for one device. Reads lose the
          pages beyond the end of the drive.

    Args:
        trace: a trace with at least one write, or data that `traces.of` accepts. Batches of data
            are read one by one, so that even long traces need only 6 to 9 bytes per request. Page
            numbers in data are those of pages of `page_bytes`.
        page_bytes: size of a page, a multiple of 512 up to 16 MiB.
        mapping: ``compact`` or ``as-is``.
        device: name of the only device to use; needed for ``as-is`` if there are several.
        logical_pages: size of the drive that the trace must fit. None for a drive as large as the
            trace needs: the footprint (compact) or the highest page plus one (as-is).
        with_reads: whether pages that are only read also get numbers and must fit on the drive;
            for timed runs, in which reads take time.
        tag_names: names of tags, for the counters of runs; with `tags`.
        tags: for each row of ``trace.requests``, the index of its tag in `tag_names`, or 255.

    Returns:
        `PageTrace`: `start`, `count` and `op` of each request (arrays), `logical_pages`,
        `host_pages`, `notes`.

    Raises:
        WriteampError: an argument is not valid, nothing is written, or the pages do not fit.

    >>> import writeamp as wa
    >>> pages = wa.traces.to_pages(wa.traces.read("examples/postgres-tpcb.parquet"))
    >>> pages.host_pages, pages.footprint_pages
    (1490653, 112641)
    """
    if mapping not in MAPPINGS:
        raise unknown("mapping", mapping, MAPPINGS)
    page_bytes = _checked_page_bytes(page_bytes)
    if logical_pages is not None:
        logical_pages = _PAGES.check("logical_pages", logical_pages)
    if isinstance(trace, str | os.PathLike):
        check_trace(trace)
    options = _PageOptions(page_bytes, mapping, device, logical_pages, with_reads)
    if isinstance(trace, Trace):
        return _tagged(trace, options, tag_names, tags)
    if tag_names is not None or tags is not None:
        raise WriteampError("tags need a trace that is read whole; use traces.read")
    return _of_data(trace if isinstance(trace, TraceData) else TraceData(trace), options)


class _PageOptions(NamedTuple):
    """Checked arguments of `to_pages`."""

    page_bytes: int
    mapping: Mapping
    device: str | None
    logical_pages: int | None
    with_reads: bool


def _tagged(
    trace: Trace,
    options: _PageOptions,
    tag_names: Sequence[str] | None,
    tags: npt.ArrayLike | None,
) -> PageTrace:
    pages, rows = _of_trace(trace, options)
    if tag_names is None and tags is None:
        return pages
    codes = np.asarray(tags)
    if tag_names is None or codes.shape != (trace.requests.height,):
        raise WriteampError(
            f"tags have shape {codes.shape}; give tag_names, and a tag for each of the "
            f"{trace.requests.height} requests"
        )
    return pages.tagged(tag_names, codes[rows.to_numpy() - 1])


def _of_trace(trace: Trace, options: _PageOptions) -> tuple[PageTrace, pl.Series]:
    """Return the page trace of a trace in memory, as `to_pages` does, and its rows from 1."""
    page_bytes, mapping, device, logical_pages, with_reads = options
    requests = _choose_device(trace, mapping, device)
    touched, notes = _touched(requests, page_bytes, trace.path)
    if not touched.select((pl.col("op") == "write").any()).item():
        raise WriteampError(f"{trace.path}: it has no writes; at least one is needed")
    writes = touched.filter(pl.col("op") == "write")
    written = union(writes.select("start", "end"))
    placing = ["write", "read"] if with_reads else ["write"]
    device_ends = None
    if mapping == "compact":
        placed = touched.filter(pl.col("op").is_in(placing))
        numbered = union(placed.select("start", "end")) if with_reads else written
        needed_pages = numbered.total
        refuse_large_footprint(trace.path, needed_pages, page_bytes, logical_pages)
        device_ends = ends_of_devices(placed, numbered)
        touched, dropped = _ranked(touched, numbered)
    else:
        changing = touched.filter(pl.col("op").is_in([*placing, "trim"]))
        needed_pages = int(changing.select(pl.col("end").max()).item())
        refuse_far_ends(trace.path, changing, page_bytes, logical_pages)
        touched, dropped = _within(touched, logical_pages or needed_pages)
    notes += dropped
    counts = touched["end"] - touched["start"]
    pages = PageTrace(
        op=_column(touched["op"].replace_strict(OPS, return_dtype=pl.UInt8), usual=0),
        start=_column(touched["start"].cast(pl.UInt32)),
        count=_column(counts.cast(pl.UInt32), usual=1),
        at_ns=kept(_since_first(touched["timestamp_ns"])),
        head_bytes=_column(touched["head"].cast(pl.UInt32), usual=0),
        tail_bytes=_column(touched["tail"].cast(pl.UInt32), usual=0),
        fua=_durable(trace.fua, touched["row"]),
        logical_pages=needed_pages,
        footprint_pages=written.total,
        host_pages=int((writes["end"] - writes["start"]).sum()),
        partial_pages=int(writes["partial"].sum()),
        page_bytes=page_bytes,
        mapping=mapping,
        notes=notes,
        path=trace.path,
        device_ends=device_ends,
    )
    return pages, touched["row"]


def _choose_device(trace: Trace, mapping: Mapping, device: str | None) -> pl.DataFrame:
    """Return the requests of the chosen device, or all, with their ``row`` in the trace from 1."""
    requests = trace.requests.with_row_index("row", offset=1)
    if device is not None:
        if device not in trace.devices:
            raise unknown("device", device, trace.devices)
        return requests.filter(pl.col("device") == trace.devices.index(device))
    _refuse_several(trace.path, trace.devices, mapping)
    return requests


def _refuse_several(path: str, devices: list[str], mapping: Mapping) -> None:
    if mapping == "as-is" and len(devices) > 1:
        raise WriteampError(
            f"{path}: as-is mapping needs one device, but the trace has {len(devices)}: "
            f"choose one (--trace-device) from {shortened(devices)}, or map compact"
        )


def _of_data(source: TraceData, options: _PageOptions) -> PageTrace:
    """Return the page trace of data that may come in batches, as `to_pages` does."""
    page_bytes, mapping, device, logical_pages, with_reads = options
    if source.pages is not None and source.pages[0] == options:
        pages: PageTrace = source.pages[1]
        return pages
    collected = Collection(
        page_bytes,
        is_compact=mapping == "compact",
        device=device,
        logical_pages=logical_pages,
        with_reads=with_reads,
    )
    collected.add_all(source)
    names = [collected.names[code] for code in natural_order(collected.names)]
    if device is None:
        _refuse_several("the trace", names, mapping)
    elif device not in names:
        raise unknown("device", device, names)
    if not collected.host_pages:
        raise WriteampError("the trace has no writes; at least one is needed")
    needed_pages, columns = collected.number(), collected.columns
    count = collected.requests
    has_parts = not (columns.head.is_usual and columns.tail.is_usual)
    pages = PageTrace(
        op=columns.op.finished(count),
        start=columns.start.finished(count, np.uint32),
        count=columns.count.finished(count),
        at_ns=_since_first(pl.Series(columns.time.taken(count))) if with_reads else None,
        head_bytes=columns.head.finished(count) if has_parts else None,
        tail_bytes=columns.tail.finished(count) if has_parts else None,
        logical_pages=needed_pages,
        footprint_pages=collected.footprint_pages,
        host_pages=collected.host_pages,
        partial_pages=collected.partial_pages,
        page_bytes=page_bytes,
        mapping=mapping,
        notes=[
            *(
                [f"{len(names)} devices, each with an address space of its own"]
                if names[1:]
                else []
            ),
            *ignored_columns(collected.ignored),
            *collected.notes,
        ],
        device_ends=collected.device_ends,
    )
    if source.is_once:
        source.pages = (options, pages)
    return pages


def _touched(requests: pl.DataFrame, page_bytes: int, path: str) -> tuple[pl.DataFrame, list[str]]:
    """Return the pages that requests touch, with devices laid end to end, and notes.

    Page numbers start at 0 on the first device and continue on the next.
    """
    touched, lost = touched_pages(requests, page_bytes)
    pages = end_to_end(touched, path)
    is_flush = pl.col("op") == "flush"
    touched = touched.with_columns(pages["start"], pages["end"]).with_columns(
        start=pl.when(is_flush).then(0).otherwise(pl.col("start")),
        end=pl.when(is_flush).then(0).otherwise(pl.col("end")),
    )
    return touched, left_out(lost)


def _ranked(touched: pl.DataFrame, written: IntervalUnion) -> tuple[pl.DataFrame, list[str]]:
    """Return the requests with pages numbered by `written`, and notes on requests left out.

    A write keeps its length, because all of its pages are written pages. Other requests lose pages
    that are never written.
    """
    others = touched["op"] != "write"
    start = pl.Series("start", written.rank(touched["start"].to_numpy()))
    end = (start + (touched["end"] - touched["start"])).alias("end")
    if others.any():
        ends = written.rank(touched["end"].filter(others).to_numpy())
        end = end.scatter(others.arg_true(), pl.Series(ends))
    remaining, lost = with_bounds(touched, start, end)
    return remaining, left_out(lost, NEVER_WRITTEN)


def _within(touched: pl.DataFrame, logical_pages: int) -> tuple[pl.DataFrame, list[str]]:
    """Return the requests within the drive, and notes on reads beyond its end."""
    bound = pl.lit(logical_pages, pl.UInt64)
    start, end = touched.select(
        pl.min_horizontal("start", bound).alias("start"), pl.min_horizontal("end", bound)
    ).get_columns()
    remaining, lost = with_bounds(touched, start, end.alias("end"))
    return remaining, left_out(lost, "pages beyond the end of the drive")


def _durable(fua: pl.Series | None, rows: pl.Series) -> npt.NDArray[np.uint8] | None:
    """Return 1 for each row that had to be durable, otherwise 0; None if there is none."""
    if fua is None or not fua.any():
        return None
    return fua.gather(rows - 1).cast(pl.UInt8).to_numpy()


def _column(values: pl.Series, usual: int | None = None) -> npt.NDArray[Any]:
    """Return values as a read-only array, which all runs of a study share without a copy.

    The array takes no memory if all values are `usual`.
    """
    array = values.to_numpy()
    if usual is not None and (array == usual).all():
        return np.broadcast_to(array.dtype.type(usual), array.shape)
    return kept(array)


def _since_first(times: pl.Series) -> npt.NDArray[np.uint64]:
    """Return the times since the earliest time, which need not be the first in the trace."""
    stamps = times.to_numpy()
    return np.asarray(stamps - stamps.min(), dtype=np.uint64)


def _checked_page_bytes(page_bytes: object) -> int:
    if not _PAGE_BYTES.holds(page_bytes) or page_bytes % SECTOR_BYTES != 0:  # type: ignore[operator]
        raise WriteampError(
            f"page_bytes is {shown(page_bytes)}; valid are multiples of {SECTOR_BYTES} up to "
            f"{_LARGEST_PAGE_BYTES}"
        )
    return int(page_bytes)  # type: ignore[call-overload, no-any-return]
