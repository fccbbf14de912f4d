"""Sums over the documents of a drive's control socket."""

from __future__ import annotations

from writeamp.vssd.control import Document


def programmed_pages(counters: Document) -> int:
    """Return the pages programmed for all causes since the drive was new."""
    return int(sum(counters["programs"].values()))


def programmed_bytes(counters: Document) -> int:
    """Return the bytes programmed for all causes since the drive was new."""
    return programmed_pages(counters) * int(counters["page_bytes"])
