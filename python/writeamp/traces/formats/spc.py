"""SPC: the Storage Performance Council's format, as in UMass Financial and WebSearch."""

from __future__ import annotations

import re

from writeamp.traces.format import Format
from writeamp.traces.row_format import request_rows
from writeamp.traces.rows import FieldKind, RowLayout
from writeamp.traces.trace import SECTOR_BYTES

# A row has two units: the address counts blocks of 512 bytes, the size counts bytes. Rows may end
# with optional fields, whose number may differ between rows. A size of zero is valid.
_LAYOUT = RowLayout(
    ",",
    {
        "ASU": FieldKind.WHOLE,
        "LBA": FieldKind.WHOLE,
        "Size": FieldKind.WHOLE,
        "Opcode": FieldKind.WORD,
        "Timestamp": FieldKind.SECONDS,
    },
    open_ended=True,
)
FORMAT = Format.of_rows(
    request_rows(
        "spc",
        _LAYOUT,
        # Each application storage unit (ASU) has an address space of its own, so the ASU is the
        # device.
        ["ASU"],
        ("Opcode", {"read": ["R", "r"], "write": ["W", "w"]}),
        time="Timestamp",
        offset=("LBA", SECTOR_BYTES),
        length=("Size", 1),
        notes=["times are seconds; addresses are blocks of 512 bytes, sizes are bytes"],
    ),
    re.compile(
        r"\d+\s*,\s*\d+\s*,\s*\d+\s*,\s*[rw]\s*,\s*[\d.]+(e[+-]?\d+)?\s*(,.*)?", re.IGNORECASE
    ),
    summary="SPC traces (UMass Financial and WebSearch), comma-separated",
    units="time in seconds; LBA in sectors of 512 bytes, one address space per ASU; size in bytes; "
    "Opcode R or W",
    detection="five or more comma-separated fields, the fourth R or W, the fifth seconds",
)
