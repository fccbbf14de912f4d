"""Counters of a drive by placement handle."""

from __future__ import annotations

from typing import Any

from writeamp.results.handles import handle_row
from writeamp.vssd.control import Document

_COUNTERS = ("host_pages", "media_pages", "moved_in_pages", "moved_out_pages")


def by_handle(counters: Document, began: Document | None = None) -> list[dict[str, Any]] | None:
    """Return a row for each placement handle that was used; None if the drive counts none.

    The keys are those of `handle_row`. Sums of `host_bytes` are those of whole pages.

    Args:
        counters: response of the control socket to "counters".
        began: an earlier response, whose counts are subtracted; None for the drive's life.
    """
    if "handles" not in counters:
        return None
    earlier = {} if began is None else {row["handle"]: row for row in began["handles"]}
    rows = []
    for row in counters["handles"]:
        began_row = earlier.get(row["handle"], dict.fromkeys(_COUNTERS, 0))
        host, media, *moved = (row[name] - began_row[name] for name in _COUNTERS)
        if media or any(moved):
            pages = host, media
            rows.append(handle_row(row["handle"], pages, tuple(moved), counters["page_bytes"]))
    return rows
