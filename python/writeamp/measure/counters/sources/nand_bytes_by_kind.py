"""Bytes written to TLC and SLC, as plugins of NVMe vendors print them under names with Bytes."""

from __future__ import annotations

from writeamp.measure.counters.printed_log import PrintedLog, Written, source_of

SOURCE = source_of(
    PrintedLog(
        "nvme vendor log of bytes by kind of flash",
        "vendor log",
        (
            Written(
                "flash",
                ("nand_writes_tlc_bytes", "physical_media_units_bytes_tlc"),
                "byte",
                "tlc",
            ),
            Written(
                "flash",
                ("nand_writes_slc_bytes", "physical_media_units_bytes_slc"),
                "byte",
                "slc",
            ),
        ),
    )
)
