"""Bytes written to TLC and to SLC, under the names that vendors' plugins print."""

from __future__ import annotations

from writeamp.drives.counters.printed_log import PrintedLog, Written, source_of

SOURCE = source_of(
    PrintedLog(
        "nvme vendor log of bytes by kind of flash",
        "vendor log",
        (
            Written(
                "flash",
                ("nand_writes_tlc_bytes",),
                "byte",
                "tlc",
            ),
            Written(
                "flash",
                ("nand_writes_slc_bytes",),
                "byte",
                "slc",
            ),
        ),
    )
)
