"""Micron's log 0xD0: bytes written to the flash, hexadecimal."""

from __future__ import annotations

from writeamp.drives.counters.printed_log import PrintedLog, Written, source_of

SOURCE = source_of(
    PrintedLog(
        "nvme micron vs-nand-stats",
        "Micron log 0xD0",
        (Written("flash", ("nand_writes_bytes_written",), "byte"),),
    )
)
