"""Flash pages that requests of bytes touch, and errors where a drive has fewer."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from writeamp.errors import WriteampError

# The engine's numbers for operations.
OPS = {"write": 0, "trim": 1, "read": 2, "flush": 3}

_EMPTY = "requests of zero bytes"
_NO_PAGE = "trims that cover no whole page"


def touched_pages(requests: pl.DataFrame, page_bytes: int) -> tuple[pl.DataFrame, dict[str, int]]:
    """Return the pages from ``start`` to ``end`` of each request, and how many have none.

    Pages are those of the request's device. ``partial`` counts the pages that a request covers
    only in part, ``head`` and ``tail`` are the bytes of its first and last page that it leaves
    alone, and ``end_byte`` is where it ended on its device.
    """
    is_flush = pl.col("op") == "flush"
    sized = requests.filter((pl.col("length") > 0) | is_flush).with_columns(
        offset=pl.when(is_flush).then(0).otherwise(pl.col("offset")),
        end_byte=pl.when(is_flush).then(0).otherwise(pl.col("offset") + pl.col("length")),
    )
    offset, end_byte = pl.col("offset"), pl.col("end_byte")
    is_trim = pl.col("op") == "trim"
    up_to_first = offset // page_bytes
    past_first = (offset + (page_bytes - 1)) // page_bytes
    up_to_last = end_byte // page_bytes
    past_last = (end_byte + (page_bytes - 1)) // page_bytes
    head, tail = offset % page_bytes, (page_bytes - end_byte % page_bytes) % page_bytes
    touched = sized.select(
        "row",
        "device",
        "op",
        "timestamp_ns",
        "end_byte",
        start=pl.when(is_trim).then(past_first).otherwise(up_to_first),
        end=pl.when(is_trim).then(up_to_last).otherwise(past_last),
        # Of its pages, a trim covers each whole.
        head=pl.when(is_trim).then(0).otherwise(head).cast(pl.UInt32),
        tail=pl.when(is_trim).then(0).otherwise(tail).cast(pl.UInt32),
    ).filter((pl.col("end") > pl.col("start")) | is_flush)
    cuts = (pl.col("head") > 0).cast(pl.UInt64) + (pl.col("tail") > 0).cast(pl.UInt64)
    touched = touched.with_columns(
        # A page that is cut at its head and at its tail is still one page.
        partial=pl.min_horizontal(cuts, pl.col("end") - pl.col("start")),
    )
    lost = {_EMPTY: requests.height - sized.height, _NO_PAGE: sized.height - touched.height}
    return touched, lost


def with_bounds(
    touched: pl.DataFrame, start: pl.Series, end: pl.Series
) -> tuple[pl.DataFrame, dict[str, int]]:
    """Return the requests with other bounds, and how many are dropped as empty, by operation."""
    # Of a request that loses pages it is not known which are cut, so the rest counts whole.
    is_whole = (end - start) == (touched["end"] - touched["start"])
    changed = touched.with_columns(
        start,
        end,
        head=pl.when(is_whole).then("head").otherwise(0),
        tail=pl.when(is_whole).then("tail").otherwise(0),
    )
    kept = changed.filter((pl.col("end") > pl.col("start")) | (pl.col("op") == "flush"))

    def lost(op: str) -> int:
        return changed.filter(pl.col("op") == op).height - kept.filter(pl.col("op") == op).height

    return kept, {"trims": lost("trim"), "reads": lost("read")}


def left_out(counts: Mapping[str, int], of_what: str = "") -> list[str]:
    """Return notes on how many requests are left out, by operation."""
    of = f" of {of_what}" if of_what else ""
    return [f"{count} {what}{of} are left out" for what, count in counts.items() if count]


MAX_PAGES = 2**32


def ends_too_far(
    where: str, row: int, end: str, *, page_bytes: int, logical_pages: int | None
) -> WriteampError:
    """Return the error for a request that ends beyond the drive.

    Args:
        where: the trace.
        row: the number of the request, from 1.
        end: its end, with its unit.
        page_bytes: size of a page.
        logical_pages: size of the drive, if it is given.
    """
    pages = logical_pages or MAX_PAGES
    return WriteampError(
        f"{where}: request {row} ends at {end}, {_capacity(logical_pages)} of {page_bytes} bytes "
        f"({pages * page_bytes} bytes): map compact, or take a larger drive"
    )


def refuse_far_ends(
    where: str, touched: pl.DataFrame, page_bytes: int, logical_pages: int | None
) -> None:
    """Refuse requests, with their `row` and `end_byte`, of which one ends beyond the drive.

    Raises:
        WriteampError: one does.
    """
    capacity_pages = logical_pages or MAX_PAGES
    far = touched.filter(pl.col("end_byte") > capacity_pages * page_bytes).head(1)
    if not far.is_empty():
        row, end_byte = far.select("row", "end_byte").row(0)
        raise ends_too_far(
            where, row, f"byte {end_byte}", page_bytes=page_bytes, logical_pages=logical_pages
        )


def refuse_large_footprint(
    where: str, footprint_pages: int, page_bytes: int, logical_pages: int | None
) -> None:
    """Refuse a trace that writes more distinct pages than the drive has.

    Raises:
        WriteampError: it does.
    """
    if footprint_pages > (logical_pages or MAX_PAGES):
        raise WriteampError(
            f"{where}: the trace writes {footprint_pages} distinct pages of {page_bytes} bytes, "
            f"{_capacity(logical_pages)}"
        )


def _capacity(logical_pages: int | None) -> str:
    whose = "the drive has" if logical_pages else "a drive has at most"
    return f"{whose} {logical_pages or MAX_PAGES} pages"
