"""FDP statistics (log 0x22), as `nvme fdp stats -o json` prints them."""

from __future__ import annotations

from writeamp.vssd.control import Document
from writeamp.vssd.counter_sums import programmed_bytes


def fdp_statistics(counters: Document) -> dict[str, int]:
    """Return the FDP statistics of a drive, all in bytes.

    `hbmw` are the bytes that the host wrote, `mbmw` those that were programmed, `mbe` those that
    were erased: blocks in whole. Neither has metadata, of which the virtual drive keeps none.

    Args:
        counters: what the control socket answers to "counters".
    """
    block_bytes = counters["pages_per_block"] * counters["page_bytes"]
    return {
        "hbmw": counters["host"]["written_bytes"],
        "mbmw": programmed_bytes(counters),
        "mbe": counters["erases"] * block_bytes,
    }
