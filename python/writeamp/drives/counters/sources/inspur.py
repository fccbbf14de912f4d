"""Inspur's vendor log: four counts of GB to the flash, of 10**9 or 2**30 bytes."""

from __future__ import annotations

from writeamp.drives.counters.printed_log import PrintedLog, Written, source_of

_KEYS = tuple(f"{place}_nand_bytes_written" for place in range(4))

SOURCE = source_of(
    PrintedLog(
        "nvme inspur nvme-vendor-log",
        "Inspur vendor log",
        (Written("flash", _KEYS, "GB or GiB", rounding="unknown", sums=True),),
    )
)
