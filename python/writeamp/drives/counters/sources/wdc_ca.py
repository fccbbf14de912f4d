"""WDC's log 0xCA: bytes written to the flash, as the high and the low 64 bits."""

from __future__ import annotations

from writeamp.drives.counters.printed_log import PrintedLog, Written, source_of

SOURCE = source_of(
    PrintedLog(
        "nvme wdc vs-smart-add-log",
        "WDC log 0xCA",
        (
            Written(
                "flash",
                ("nand_bytes_written_lo",),
                "byte",
                high_keys=("nand_bytes_written_hi",),
            ),
        ),
    )
)
