"""DiskSim: ASCII traces of DiskSim 4.0 and of its SSD extension (Agrawal et al., ATC 2008)."""

from __future__ import annotations

import re

import polars as pl

from writeamp.traces.formats.five_columns import five_columns
from writeamp.traces.rows import FieldKind, RowCheck
from writeamp.traces.trace import Operation

# The last field holds flags in hexadecimal. Bit 0 is set for a read; the others (8 is synchronous)
# are ignored, so 9 is a read and 8 a write. Other flags are not written.
_FLAGS = pl.col("flags")
_OP = (
    pl.when(_FLAGS.str.contains("[13579bdfBDF]$"))
    .then(pl.lit("read", Operation))
    .otherwise(pl.lit("write", Operation))
)
_OP_CHECK = RowCheck(
    _FLAGS.str.contains("^(0x)?[0-9a-fA-F]+$"),
    "flags is {flags}, valid is a hexadecimal number whose bit 0 is 1 for a read",
)
FORMAT = five_columns(
    "disksim",
    "times are ms; sectors of 512 bytes; bit 0 of the hexadecimal flags is 1 for a read",
    time=FieldKind.MILLISECONDS,
    type_column="flags",
    parsed_op=(_OP, _OP_CHECK),
    row=re.compile(r"\d+(\.\d*)?\s+\d+\s+\d+\s+\d+\s+(0x)?[0-9a-f]+", re.IGNORECASE),
    last="hexadecimal",
    summary="DiskSim ASCII traces, five columns, time in ms",
    units="time in ms with decimals; address and size in sectors of 512 bytes; flags hexadecimal, "
    "bit 0 set for a read",
)
