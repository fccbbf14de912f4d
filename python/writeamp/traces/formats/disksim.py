"""DiskSim: ASCII traces of DiskSim 4.0 and of its SSD extension (Agrawal et al., ATC 2008)."""

from __future__ import annotations

import re
from functools import partial
from typing import BinaryIO

import polars as pl

from writeamp.traces.format import Format
from writeamp.traces.formats.five_columns import five_column_rows, write_five_columns
from writeamp.traces.row_format import any_line
from writeamp.traces.rows import Check, Kind
from writeamp.traces.text_output import decimal_time
from writeamp.traces.trace import Operation, Trace

_ROW = re.compile(r"\d+(\.\d*)?\s+\d+\s+\d+\s+\d+\s+(0x)?[0-9a-f]+", re.IGNORECASE)
_NS_PER_MS = 10**6

# The last field is a set of flags in hexadecimal, of which bit 0 says read; the others (8 is
# synchronous, for one) do not matter here, so 9 is a read and 8 a write.
_FLAGS = pl.col("flags")
_OP = (
    pl.when(_FLAGS.str.contains("[13579bdfBDF]$"))
    .then(pl.lit("read", Operation))
    .otherwise(pl.lit("write", Operation))
)
_OP_CHECK = Check(
    _FLAGS.str.contains("^(0x)?[0-9a-fA-F]+$"),
    "flags is {flags}, valid is a hexadecimal number whose bit 0 is 1 for a read",
)
_ROWS = five_column_rows(
    "disksim",
    Kind.MILLISECONDS,
    "flags",
    (_OP, _OP_CHECK),
    notes=["times are ms; sectors of 512 bytes; bit 0 of the hexadecimal flags is 1 for a read"],
)


def write(trace: Trace, file: BinaryIO) -> list[str]:
    """Write reads and writes of whole sectors; other flags than bit 0 are not written."""
    return write_five_columns(trace, file, "disksim", decimal_time(_NS_PER_MS))


FORMAT = Format(
    name="disksim",
    summary="DiskSim ASCII traces, five columns, time in ms",
    columns=_ROWS.layout.form,
    units="time in ms with decimals; address and size in sectors of 512 bytes; flags hexadecimal, "
    "bit 0 set for a read",
    detection="five columns of numbers, the last hexadecimal: never certain, must be named",
    matches=partial(any_line, _ROW),
    writer=write,
    certain=False,
    rows=lambda path: _ROWS,
)
