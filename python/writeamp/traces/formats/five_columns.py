"""The family ``time device address size type`` that most SSD simulators read.

Its members look alike and differ in the unit of time, so none is ever detected: a file of the
wrong member would read without a fault and run a thousand or a million times too fast or too slow.
"""

from __future__ import annotations

import re
from typing import BinaryIO

import polars as pl

from writeamp.traces.row_format import RowFormat, request_rows
from writeamp.traces.rows import Check, Kind, RowLayout
from writeamp.traces.text_output import DEVICE, read_or_write, sectors, write_reads_and_writes
from writeamp.traces.trace import SECTOR_BYTES, Trace

ROW_IN_NANOSECONDS = re.compile(r"\d+\s+\d+\s+\d+\s+\d+\s+[01]")


def five_column_rows(
    name: str, time: Kind, type_column: str, op: tuple[pl.Expr, Check], notes: list[str]
) -> RowFormat:
    """Return the row format of one member of the family.

    ``time`` is WHOLE for nanoseconds; ``op`` reads ``type_column``.
    """
    fields = dict.fromkeys(("device", "address", "size"), Kind.WHOLE)
    return request_rows(
        name,
        RowLayout(" ", {"time": time} | fields | {type_column: Kind.WORD}),
        ["device"],
        op,
        time="time",
        offset=("address", SECTOR_BYTES),
        length=("size", SECTOR_BYTES),
        notes=notes,
    )


def write_five_columns(trace: Trace, file: BinaryIO, name: str, time: pl.Expr) -> list[str]:
    """Write reads and writes of whole sectors, with 1 for a read and 0 for a write."""
    columns = [time, DEVICE, sectors("offset"), sectors("length"), read_or_write("1", "0")]
    return write_reads_and_writes(
        trace, file, name, columns, separator=" ", in_sectors=["offset", "length"]
    )
