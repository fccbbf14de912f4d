"""Samsung's log 0xCA on drives made for Meta: bytes written to the flash."""

from __future__ import annotations

from writeamp.drives.counters.printed_log import PrintedLog, Worn, Written, source_of

SOURCE = source_of(
    PrintedLog(
        "nvme samsung vs-smart-add-log",
        "Samsung log 0xCA",
        (Written("flash", ("physically_written_bytes",), "byte"),),
        worn=(Worn(("user_data_erase_count_min",), ("user_data_erase_count_max",)),),
    )
)
