"""Log 0xCA of Toshiba and Kioxia: GiB written to the flash, in steps of a tenth."""

from __future__ import annotations

import re
from typing import Any

from writeamp.drives.counters.printed import Count
from writeamp.drives.counters.printed_log import PrintedLog, Worn, Written, source_of

_TENTHS = re.compile(r"(\d{1,30})[.,](\d)\s*GiB")


def _tenths(value: Any) -> Count | None:
    match = _TENTHS.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        return None
    count = int(match[1] + match[2])
    return Count(count, count)


SOURCE = source_of(
    PrintedLog(
        "nvme toshiba vs-smart-add-log",
        "Toshiba log 0xCA",
        (
            Written(
                "flash",
                ("total_data_written_to_nand",),
                "0.1 GiB",
                rounding="unknown",
                read=_tenths,
            ),
        ),
        worn=(Worn(("user_data_erase_count_min",), ("user_data_erase_count_max",)),),
    )
)
