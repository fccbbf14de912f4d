"""Byte ranges to flash pages: what a drive is asked to do, page by page."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from writeamp.errors import WriteampError, unknown
from writeamp.traces.intervals import Runs, end_to_end, union
from writeamp.traces.quoting import shortened
from writeamp.traces.trace import SECTOR_BYTES, Trace

Mapping = Literal["compact", "as-is"]
MAPPINGS: tuple[Mapping, ...] = ("compact", "as-is")

U32 = npt.NDArray[np.uint32]

_MAX_PAGES = 2**32
_LARGEST_PAGE_BYTES = 2**24


@dataclass(frozen=True)
class PageTrace:
    """Writes and trims of consecutive logical pages, in the order of the trace.

    Attributes:
        op: u8, 0 for a write and 1 for a trim; shape (requests,), as the next two.
        start: u32, first logical page.
        count: u32, number of pages, at least 1.
        logical_pages: pages of the smallest drive that ``start`` and ``count`` fit.
        footprint_pages: distinct pages written.
        host_pages: pages written in all (the sum of ``count`` over the writes).
        partial_pages: how many of them were covered by their request only in part.
        page_bytes: size of a page.
        mapping: how addresses became page numbers.
        notes: sentences on what was left out.
    """

    op: npt.NDArray[np.uint8]
    start: U32
    count: U32
    logical_pages: int
    footprint_pages: int
    host_pages: int
    partial_pages: int
    page_bytes: int
    mapping: Mapping
    notes: list[str] = field(default_factory=list)


def to_pages(
    trace: Trace,
    page_bytes: int = 4096,
    *,
    mapping: Mapping = "compact",
    device: str | None = None,
    logical_pages: int | None = None,
) -> PageTrace:
    """Return the page writes and trims that the trace's requests come to.

    Rules:
        - A write touches every page it overlaps, pages ``floor(offset / page_bytes)`` to
          ``ceil(end / page_bytes) - 1``. A page that it covers only in part is programmed whole
          and counted in ``partial_pages``.
        - A trim frees only pages that it covers entirely.
        - Reads and flushes do not change flash and are left out, as are requests of zero bytes.
        - ``compact`` numbers the distinct pages that the trace writes in order of
          (device, address), from 0. Neighbours stay neighbours, so a write stays one run of pages;
          so does a trim, since the written pages between two addresses have consecutive numbers.
          A trim of pages that the trace never writes is left out.
        - ``as-is`` takes ``offset / page_bytes`` for the page number, of one device.

    Args:
        trace: a trace with at least one write.
        page_bytes: size of a page, a multiple of 512 up to 16 MiB.
        mapping: ``compact`` or ``as-is``.
        device: name of the only device to take; needed for ``as-is`` if there are several.
        logical_pages: size of the drive that the trace must fit. Without it the drive is as large
            as the trace needs: the footprint (compact) or the highest page plus one (as-is).

    Raises:
        WriteampError: an argument is not valid, nothing is written, or the pages do not fit.

    >>> import writeamp as wa
    >>> pages = wa.traces.to_pages(wa.traces.read("examples/postgres-tpcb.parquet"))
    >>> pages.host_pages, pages.footprint_pages
    (1490653, 112641)
    """
    if mapping not in MAPPINGS:
        raise unknown("mapping", mapping, MAPPINGS)
    _check_page_bytes(page_bytes)
    if logical_pages is not None and not 1 <= logical_pages <= _MAX_PAGES:
        raise WriteampError(f"logical_pages is {logical_pages}, valid are 1 to 2^32")
    requests = _choose_device(trace, mapping, device)
    touched, notes = _touched(requests, page_bytes, trace.path)
    if not touched.select((pl.col("op") == "write").any()).item():
        raise WriteampError(f"{trace.path}: no request writes, a trace needs at least one write")
    writes = touched.filter(pl.col("op") == "write")
    written = union(writes.select("start", "end"))
    if mapping == "compact":
        needed_pages = written.total
        _refuse_large_footprint(trace, needed_pages, page_bytes, logical_pages)
        touched, dropped = _ranked(touched, written)
        notes += dropped
    else:
        needed_pages = int(touched.select(pl.col("end").max()).item())
        _refuse_far_ends(trace, touched, page_bytes, logical_pages)
    counts = touched["end"] - touched["start"]
    return PageTrace(
        op=(touched["op"] == "trim").cast(pl.UInt8).to_numpy(),
        start=touched["start"].cast(pl.UInt32).to_numpy(),
        count=counts.cast(pl.UInt32).to_numpy(),
        logical_pages=needed_pages,
        footprint_pages=written.total,
        host_pages=int((writes["end"] - writes["start"]).sum()),
        partial_pages=int(writes["partial"].sum()),
        page_bytes=page_bytes,
        mapping=mapping,
        notes=notes,
    )


def _choose_device(trace: Trace, mapping: Mapping, device: str | None) -> pl.DataFrame:
    """Return the requests of the chosen device, or all, with their ``row`` in the trace from 1."""
    requests = trace.requests.with_row_index("row", offset=1)
    if device is not None:
        if device not in trace.devices:
            raise unknown("device", device, trace.devices)
        return requests.filter(pl.col("device") == trace.devices.index(device))
    if mapping == "as-is" and len(trace.devices) > 1:
        raise WriteampError(
            f"{trace.path}: as-is mapping takes one device, the trace has {len(trace.devices)}: "
            f"choose one (--trace-device) from {shortened(trace.devices)}, or map compact"
        )
    return requests


def _touched(requests: pl.DataFrame, page_bytes: int, path: str) -> tuple[pl.DataFrame, list[str]]:
    """Return the pages from ``start`` to ``end`` of each write and trim, and notes on the others.

    Pages count from 0 on the first device and go on over the next. ``partial`` counts the pages
    that a write covers only in part; ``end_byte`` is where the request ended on its device.
    """
    changing = requests.filter(pl.col("op").is_in(["write", "trim"]))
    sized = changing.filter(pl.col("length") > 0).with_columns(
        end_byte=pl.col("offset") + pl.col("length")
    )
    offset, end_byte = pl.col("offset"), pl.col("end_byte")
    is_write = pl.col("op") == "write"
    from_first = offset // page_bytes
    from_next = (offset + (page_bytes - 1)) // page_bytes
    through_last = (end_byte + (page_bytes - 1)) // page_bytes
    up_to_last = end_byte // page_bytes
    touched = sized.select(
        "row",
        "device",
        "op",
        "end_byte",
        start=pl.when(is_write).then(from_first).otherwise(from_next),
        end=pl.when(is_write).then(through_last).otherwise(up_to_last),
        cuts=(offset % page_bytes != 0).cast(pl.UInt64) + (end_byte % page_bytes != 0),
    ).filter(pl.col("end") > pl.col("start"))
    pages = end_to_end(touched, path)
    touched = touched.select(
        "row",
        "op",
        "end_byte",
        pages["start"],
        pages["end"],
        # A page that is cut at its head and at its tail is still one page.
        partial=pl.min_horizontal("cuts", pl.col("end") - pl.col("start")),
    )
    return touched, _left_out(
        (changing.height - sized.height, "requests of zero bytes are left out"),
        (sized.height - touched.height, "trims that cover no whole page are left out"),
    )


def _ranked(touched: pl.DataFrame, written: Runs) -> tuple[pl.DataFrame, list[str]]:
    """Return the pages by their rank among the written ones, and a note on trims of no such page.

    All pages of a write are written ones, so it keeps its length; a trim keeps those that are.
    """
    is_trim = touched["op"] == "trim"
    start = pl.Series("start", written.rank(touched["start"].to_numpy()))
    end = (start + (touched["end"] - touched["start"])).alias("end")
    if is_trim.any():
        trim_ends = written.rank(touched["end"].filter(is_trim).to_numpy())
        end = end.scatter(is_trim.arg_true(), pl.Series(trim_ends))
    ranked = touched.with_columns(start, end)
    kept = ranked.filter(pl.col("end") > pl.col("start"))
    return kept, _left_out(
        (ranked.height - kept.height, "trims of pages that are never written are left out")
    )


def _left_out(*counted: tuple[int, str]) -> list[str]:
    return [f"{count} {sentence}" for count, sentence in counted if count]


def _check_page_bytes(page_bytes: int) -> None:
    in_range = SECTOR_BYTES <= page_bytes <= _LARGEST_PAGE_BYTES
    if not in_range or page_bytes % SECTOR_BYTES != 0:
        raise WriteampError(
            f"page_bytes is {page_bytes}, valid are multiples of {SECTOR_BYTES} up to "
            f"{_LARGEST_PAGE_BYTES}"
        )


def _refuse_large_footprint(
    trace: Trace, footprint_pages: int, page_bytes: int, logical_pages: int | None
) -> None:
    capacity_pages = logical_pages or _MAX_PAGES
    if footprint_pages > capacity_pages:
        raise WriteampError(
            f"{trace.path}: the trace writes {footprint_pages} distinct pages of {page_bytes} "
            f"bytes, {_capacity(capacity_pages, logical_pages)}"
        )


def _refuse_far_ends(
    trace: Trace, touched: pl.DataFrame, page_bytes: int, logical_pages: int | None
) -> None:
    capacity_pages = logical_pages or _MAX_PAGES
    far = touched.filter(pl.col("end_byte") > capacity_pages * page_bytes).head(1)
    if not far.is_empty():
        row, end_byte = far.select("row", "end_byte").row(0)
        raise WriteampError(
            f"{trace.path}: request {row} ends at byte {end_byte}, "
            f"{_capacity(capacity_pages, logical_pages)} of {page_bytes} bytes "
            f"({capacity_pages * page_bytes} bytes): map compact, or take a larger drive"
        )


def _capacity(capacity_pages: int, logical_pages: int | None) -> str:
    whose = "the drive has" if logical_pages else "a drive has at most"
    return f"{whose} {capacity_pages} pages"
