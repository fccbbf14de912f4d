"""Micron's log 0xC6: counts of writes by the host and to the flash, each to TLC and to SLC."""

from __future__ import annotations

from writeamp.drives.counters.printed_log import PrintedLog, Written, source_of

_UNIT = "0xC6"

SOURCE = source_of(
    PrintedLog(
        "nvme micron vs-smart-add-log, log 0xC6",
        "Micron log 0xC6",
        (
            Written(
                "host",
                ("total_tlc_host_write_count", "total_slc_host_write_count"),
                None,
                shared=_UNIT,
                sums=True,
            ),
            Written(
                "flash",
                ("total_tlc_nand_write_count", "total_slc_nand_write_count"),
                None,
                shared=_UNIT,
                sums=True,
            ),
        ),
        notes=("the unit of log 0xC6 is not published; all four counts are taken to share it",),
    )
)
