"""Alibaba: the block traces of a cloud's thousand volumes (Li et al., IISWC 2020)."""

from __future__ import annotations

import re

from writeamp.traces.format import Format
from writeamp.traces.row_format import Ticks, request_rows
from writeamp.traces.rows import FieldKind, RowLayout

_LAYOUT = RowLayout(
    ",",
    {
        "device_id": FieldKind.WHOLE,
        "opcode": FieldKind.WORD,
        "offset": FieldKind.WHOLE,
        "length": FieldKind.WHOLE,
        "timestamp": FieldKind.WHOLE,
    },
)
FORMAT = Format.of_rows(
    request_rows(
        "alibaba",
        _LAYOUT,
        ["device_id"],
        ("opcode", {"read": ["R"], "write": ["W"]}),
        time=Ticks("timestamp", 1000, "us"),
        offset=("offset", 1),
        length=("length", 1),
        notes=["times are microseconds; offsets and lengths are bytes"],
    ),
    re.compile(r"\d+\s*,\s*[RW]\s*,\s*\d+\s*,\s*\d+\s*,\s*\d+"),
    summary="Alibaba block traces, comma-separated, one device per volume",
    units="time in microseconds since 1970; offset and length in bytes; opcode R or W",
    detection="five comma-separated fields, the second R or W",
)
