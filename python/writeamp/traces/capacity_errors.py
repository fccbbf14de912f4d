"""Errors on traces that need more pages than the drive has."""

from __future__ import annotations

import polars as pl

from writeamp.errors import WriteampError

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
