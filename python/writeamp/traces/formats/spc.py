"""SPC: the Storage Performance Council's format, as in UMass Financial and WebSearch."""

from __future__ import annotations

import re
from functools import partial
from typing import BinaryIO

import polars as pl

from writeamp.traces.format import Format
from writeamp.traces.row_format import RowFormat, any_line, operation
from writeamp.traces.rows import Kind, RowLayout, extent_checks, nanoseconds, time_check
from writeamp.traces.text_output import (
    decimal_time,
    device_labels,
    numeric_labels,
    refuse_early_times,
    refuse_operations,
    refuse_part_sectors,
    renaming_notes,
    sectors,
    write_columns,
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
_OP, _OP_CHECK = operation("Opcode", {"read": ["R", "r"], "write": ["W", "w"]})

# Each application storage unit (ASU) is an address space of its own: the same LBA of two units is
# two places, so the unit is the device.
_ROWS = RowFormat(
    name="spc",
    layout=_LAYOUT,
    device_columns=["ASU"],
    checks=(
        _OP_CHECK,
        time_check("Timestamp"),
        *extent_checks("LBA", "Size", offset_unit_bytes=SECTOR_BYTES),
    ),
    timestamp_ns=nanoseconds("Timestamp"),
    op=_OP,
    offset=pl.col("LBA") * SECTOR_BYTES,
    length=pl.col("Size"),
    notes=["times are seconds; addresses are blocks of 512 bytes, sizes are bytes"],
)


def write(trace: Trace, file: BinaryIO) -> list[str]:
    """Write reads and writes that start on a sector."""
    refuse_operations(trace, "spc", ["read", "write"])
    refuse_early_times(trace, "spc")
    refuse_part_sectors(trace, "spc", ["offset"])
    labels = numeric_labels(trace)
    columns = [
        device_labels(labels),
        sectors("offset"),
        pl.col("length"),
        pl.when(pl.col("op") == "read").then(pl.lit("R")).otherwise(pl.lit("W")),
        decimal_time(10**9),
    ]
    write_columns(trace.requests, columns, ",", file)
    return renaming_notes(trace, labels)


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
