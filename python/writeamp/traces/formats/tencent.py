"""Tencent: traces of the cloud block storage CBS (Zhang et al., ATC 2020), from SNIA IOTTA."""

from __future__ import annotations

import re

from writeamp.traces.format import Format
from writeamp.traces.row_format import Ticks, request_rows
from writeamp.traces.rows import FieldKind, RowLayout
from writeamp.traces.trace import SECTOR_BYTES

_LAYOUT = RowLayout(
    ",",
    {
        "timestamp": FieldKind.WHOLE,
        "offset": FieldKind.WHOLE,
        "size": FieldKind.WHOLE,
        "io_type": FieldKind.WORD,
        "volume_id": FieldKind.WHOLE,
    },
)
FORMAT = Format.of_rows(
    request_rows(
        "tencent",
        _LAYOUT,
        ["volume_id"],
        # 1 is a write here; 0 and 1 have the opposite meaning in MQSim, SSDsim and DiskSim.
        ("io_type", {"read": ["0"], "write": ["1"]}),
        time=Ticks("timestamp", 10**9, "s"),
        offset=("offset", SECTOR_BYTES),
        length=("size", SECTOR_BYTES),
        notes=[
            "times are whole seconds, so the order within a second is that of the file; sectors of "
            "512 bytes; io_type 0 is a read, 1 a write"
        ],
    ),
    re.compile(r"\d+\s*,\s*\d+\s*,\s*\d+\s*,\s*[01]\s*,\s*\d+"),
    summary="Tencent CBS block traces, comma-separated, one device per volume",
    units="time in seconds since 1970; offset and size in sectors of 512 bytes; io_type 0 read, "
    "1 write",
    detection="five comma-separated whole numbers, the fourth 0 or 1: never certain, so name the "
    "format",
    certain=False,
)
