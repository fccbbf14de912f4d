"""Flash pages that requests of bytes touch, and errors for pages beyond the drive."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from writeamp.errors import WriteampError
from writeamp.text import Detail
from writeamp.units.byte_sizes import shown_bytes

# Codes of operations in the simulation engine.
OPS = {"write": 0, "trim": 1, "read": 2, "flush": 3}

_EMPTY = "requests of zero bytes"
_NO_PAGE = "trims that cover no whole page"


def touched_pages(requests: pl.DataFrame, page_bytes: int) -> tuple[pl.DataFrame, dict[str, int]]:
    """Return the pages of each request, and the number of requests without pages, by reason.

    Pages from ``start`` up to ``end`` are numbered on the request's device. ``partial`` is the
    number of pages that a request covers only partly. ``head`` and ``tail`` are the bytes of its
    first and last page that it does not cover, and ``end_byte`` is its end on its device.
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
        # A trim frees whole pages only, so it leaves no part of a page.
        head=pl.when(is_trim).then(0).otherwise(head).cast(pl.UInt32),
        tail=pl.when(is_trim).then(0).otherwise(tail).cast(pl.UInt32),
    ).filter((pl.col("end") > pl.col("start")) | is_flush)
    cuts = (pl.col("head") > 0).cast(pl.UInt64) + (pl.col("tail") > 0).cast(pl.UInt64)
    touched = touched.with_columns(
        # A single page that is cut at both ends counts as one partial page.
        partial=pl.min_horizontal(cuts, pl.col("end") - pl.col("start")),
    )
    lost = {_EMPTY: requests.height - sized.height, _NO_PAGE: sized.height - touched.height}
    return touched, lost


def with_bounds(
    touched: pl.DataFrame, start: pl.Series, end: pl.Series
) -> tuple[pl.DataFrame, dict[str, int]]:
    """Return requests with new first and end pages, and the numbers of trims and reads left out.

    Requests that become empty are left out, except flushes.
    """
    # If a request loses pages, it is unknown whether the remaining ones were partial, so all of
    # them count as completely covered.
    is_whole = (end - start) == (touched["end"] - touched["start"])
    changed = touched.with_columns(
        start,
        end,
        head=pl.when(is_whole).then("head").otherwise(0),
        tail=pl.when(is_whole).then("tail").otherwise(0),
    )
    remaining = changed.filter((pl.col("end") > pl.col("start")) | (pl.col("op") == "flush"))

    def lost(op: str) -> int:
        return (
            changed.filter(pl.col("op") == op).height - remaining.filter(pl.col("op") == op).height
        )

    return remaining, {"trims": lost("trim"), "reads": lost("read")}


def left_out(counts: Mapping[str, int], of_what: str = "") -> list[str]:
    """Return notes on how many requests are left out, by the words for them (keys of `counts`)."""
    of = f" of {of_what}" if of_what else ""
    notes = [f"{count} {what}{of} are left out" for what, count in counts.items() if count]
    # Trims and reads of pages without data change nothing on the drive.
    return [Detail(note) for note in notes] if of_what == NEVER_WRITTEN else notes


NEVER_WRITTEN = "pages that are never written"
MAX_PAGES = 2**32


def ends_too_far(
    where: str, row: int, end: str, *, page_bytes: int, logical_pages: int | None
) -> WriteampError:
    """Return the error for a request that ends beyond the drive.

    Args:
        where: the trace.
        row: number of the request, from 1.
        end: end of the request, with its unit.
        page_bytes: size of a page.
        logical_pages: size of the drive, if given.
    """
    pages = logical_pages or MAX_PAGES
    return WriteampError(
        f"{where}: request {row} ends at {end}, but {_capacity(logical_pages)} of {page_bytes} "
        f"bytes ({shown_bytes(pages * page_bytes)}): use the mapping compact, or a larger drive"
    )


def refuse_far_ends(
    where: str, touched: pl.DataFrame, page_bytes: int, logical_pages: int | None
) -> None:
    """Reject requests, with their `row` and `end_byte`, if one ends beyond the drive.

    Raises:
        WriteampError: a request ends beyond the drive.
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
    """Reject a trace that writes more distinct pages than the drive has.

    Raises:
        WriteampError: there are too many pages.
    """
    if footprint_pages > (logical_pages or MAX_PAGES):
        raise WriteampError(
            f"{where}: the trace writes {footprint_pages} distinct pages of {page_bytes} bytes, "
            f"but {_capacity(logical_pages)}"
        )


def _capacity(logical_pages: int | None) -> str:
    if logical_pages:
        return f"the drive has {logical_pages} pages"
    return f"a drive has at most {MAX_PAGES} pages"
