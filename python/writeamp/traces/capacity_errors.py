"""Errors on traces that need more pages than the drive has."""

from __future__ import annotations

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
