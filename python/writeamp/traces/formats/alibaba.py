"""Alibaba: the block traces of a cloud's thousand volumes (Li et al., IISWC 2020)."""

from __future__ import annotations

import re
from functools import partial
from typing import BinaryIO

import polars as pl

from writeamp.traces.format import Format
from writeamp.traces.row_format import any_line, operation, request_rows, whole_ticks
from writeamp.traces.rows import Kind, RowLayout
from writeamp.traces.text_output import DEVICE, read_or_write, write_reads_and_writes
from writeamp.traces.trace import Trace

_NS_PER_US = 1000
_LAYOUT = RowLayout(
    ",",
    {
        "device_id": Kind.WHOLE,
        "opcode": Kind.WORD,
        "offset": Kind.WHOLE,
        "length": Kind.WHOLE,
        "timestamp": Kind.WHOLE,
    },
)
_ROW = re.compile(r"\d+\s*,\s*[RW]\s*,\s*\d+\s*,\s*\d+\s*,\s*\d+")
_ROWS = request_rows(
    "alibaba",
    _LAYOUT,
    ["device_id"],
    operation("opcode", {"read": ["R"], "write": ["W"]}),
    time=whole_ticks("timestamp", _NS_PER_US, "us"),
    offset=("offset", 1),
    length=("length", 1),
    notes=["times are microseconds; offsets and lengths are bytes"],
)


def write(trace: Trace, file: BinaryIO) -> list[str]:
    """Write reads and writes; times are cut to microseconds."""
    columns = [
        DEVICE,
        read_or_write("R", "W"),
        pl.col("offset"),
        pl.col("length"),
        pl.col("timestamp_ns") // _NS_PER_US,
    ]
    return write_reads_and_writes(trace, file, "alibaba", columns, tick=(_NS_PER_US, "1 us"))


FORMAT = Format(
    name="alibaba",
    summary="Alibaba block traces, comma-separated, one device a volume",
    columns=_LAYOUT.form,
    units="time in microseconds since 1970; offset and length in bytes; opcode R or W",
    detection="five comma-separated fields, the second R or W",
    matches=partial(any_line, _ROW),
    writer=write,
    rows=lambda path: _ROWS,
)
