"""FDP statistics (log 0x22), as `nvme fdp stats -o json` prints them."""

from __future__ import annotations

from writeamp.vssd.control import Document
from writeamp.vssd.counter_sums import programmed_bytes
from writeamp.vssd.log_pages.fdp import HOST_WRITTEN, MEDIA_ERASED, MEDIA_WRITTEN


def fdp_statistics(counters: Document) -> dict[str, int]:
    """Return the FDP statistics of a drive, all in bytes.

    `hbmw` are the bytes that the host wrote, `mbmw` those that were programmed, `mbe` those that
    were erased: blocks in whole, those of an SLC cache too. Neither has metadata, of which the
    virtual drive keeps none.

    Args:
        counters: what the control socket answers to "counters".
    """
    slc = counters.get("slc", {"erased_pages": 0})
    erased_pages = counters["erases"] * counters["pages_per_block"] + slc["erased_pages"]
    return {
        HOST_WRITTEN: counters["host"]["written_bytes"],
        MEDIA_WRITTEN: programmed_bytes(counters),
        MEDIA_ERASED: erased_pages * counters["page_bytes"],
    }
