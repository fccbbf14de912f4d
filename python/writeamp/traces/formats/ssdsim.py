"""SSDsim: the input traces of the SSDsim simulator (Hu et al., ICS 2011) and its forks."""

from __future__ import annotations

from functools import partial
from typing import BinaryIO

import polars as pl

from writeamp.traces.format import Format
from writeamp.traces.formats.five_columns import (
    ROW_IN_NANOSECONDS,
    five_column_rows,
    write_five_columns,
)
from writeamp.traces.row_format import any_line, operation
from writeamp.traces.rows import Kind
from writeamp.traces.trace import Trace

# The type is 1 for a read and 0 for a write, the opposite of what most would guess and of Tencent's
# traces.
_ROWS = five_column_rows(
    "ssdsim",
    Kind.WHOLE,
    "type",
    operation("type", {"read": ["1"], "write": ["0"]}),
    notes=["times are ns; sectors of 512 bytes; type 1 is a read, 0 a write"],
)


def write(trace: Trace, file: BinaryIO) -> list[str]:
    """Write reads and writes of whole sectors."""
    return write_five_columns(trace, file, "ssdsim", pl.col("timestamp_ns"))


FORMAT = Format(
    name="ssdsim",
    summary="SSDsim input traces, five columns, time in ns",
    columns=_ROWS.layout.form,
    units="time in ns; address and size in sectors of 512 bytes; type 1 read, 0 write",
    detection="five columns of whole numbers, the last 0 or 1: never certain, must be named",
    matches=partial(any_line, ROW_IN_NANOSECONDS),
    writer=write,
    certain=False,
    rows=lambda path: _ROWS,
)
