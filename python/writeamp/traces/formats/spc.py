"""SPC: the Storage Performance Council's format, as in UMass Financial and WebSearch."""

from __future__ import annotations

import re
from functools import partial
from typing import BinaryIO

import polars as pl

from writeamp.traces.format import Format
from writeamp.traces.row_format import any_line, operation, request_rows
from writeamp.traces.rows import Kind, RowLayout
from writeamp.traces.text_output import (
    DEVICE,
    decimal_time,
    read_or_write,
    sectors,
    write_reads_and_writes,
)
from writeamp.traces.trace import SECTOR_BYTES, Trace

# Two units in one row: the address counts blocks of 512 bytes, the size counts bytes. Rows may end
# in optional fields, and their number may differ from row to row. A size of zero is legal.
_LAYOUT = RowLayout(
    ",",
    {
        "ASU": Kind.WHOLE,
        "LBA": Kind.WHOLE,
        "Size": Kind.WHOLE,
        "Opcode": Kind.WORD,
        "Timestamp": Kind.SECONDS,
    },
    open_ended=True,
)
_ROW = re.compile(
    r"\d+\s*,\s*\d+\s*,\s*\d+\s*,\s*[rw]\s*,\s*[\d.]+(e[+-]?\d+)?\s*(,.*)?", re.IGNORECASE
)

# Each application storage unit (ASU) is an address space of its own: the same LBA of two units is
# two places, so the unit is the device.
_ROWS = request_rows(
    "spc",
    _LAYOUT,
    ["ASU"],
    operation("Opcode", {"read": ["R", "r"], "write": ["W", "w"]}),
    time="Timestamp",
    offset=("LBA", SECTOR_BYTES),
    length=("Size", 1),
    notes=["times are seconds; addresses are blocks of 512 bytes, sizes are bytes"],
)


def write(trace: Trace, file: BinaryIO) -> list[str]:
    """Write reads and writes that start on a sector."""
    columns = [
        DEVICE,
        sectors("offset"),
        pl.col("length"),
        read_or_write("R", "W"),
        decimal_time(10**9),
    ]
    return write_reads_and_writes(trace, file, "spc", columns, in_sectors=["offset"])


FORMAT = Format(
    name="spc",
    summary="SPC traces (UMass Financial and WebSearch), comma-separated",
    columns=_LAYOUT.form,
    units="time in seconds; LBA in sectors of 512 bytes, one address space per ASU; size in bytes; "
    "Opcode R or W",
    detection="five or more comma-separated fields, the fourth R or W, the fifth seconds",
    matches=partial(any_line, _ROW),
    writer=write,
    rows=lambda path: _ROWS,
)
