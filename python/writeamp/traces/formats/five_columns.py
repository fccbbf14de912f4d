"""The family ``time device address size type`` that most SSD simulators read.

Its members look alike and differ in the unit of time, so none is ever detected: a file of the
wrong member would read without a fault and run a thousand or a million times too fast or too slow.
"""

from __future__ import annotations

import re
from typing import BinaryIO

import polars as pl

from writeamp.traces.row_format import RowFormat
from writeamp.traces.rows import Check, Kind, RowLayout, extent_checks, nanoseconds, time_check
from writeamp.traces.text_output import (
    device_labels,
    numeric_labels,
    refuse_early_times,
    refuse_operations,
    refuse_part_sectors,
    renaming_notes,
    sectors,
    write_columns,
)
from writeamp.traces.trace import MAX_TIMESTAMP_NS, SECTOR_BYTES, Trace

ROW_IN_NANOSECONDS = re.compile(r"\d+\s+\d+\s+\d+\s+\d+\s+[01]")


def five_column_rows(
    name: str, time: Kind, type_column: str, op: tuple[pl.Expr, Check], notes: list[str]
) -> RowFormat:
    """Return the row format of one member of the family.

    ``time`` is WHOLE for nanoseconds; ``op`` reads ``type_column``.
    """
    op_expression, op_check = op
    in_nanoseconds = Check(
        pl.col("time") <= MAX_TIMESTAMP_NS,
        "time {time} is out of range, valid are 0 to 2^63 - 1 ns",
    )
    whole = time is Kind.WHOLE
    return RowFormat(
        name=name,
        layout=RowLayout(
            " ",
            {
                "time": time,
                "device": Kind.WHOLE,
                "address": Kind.WHOLE,
                "size": Kind.WHOLE,
                type_column: Kind.WORD,
            },
        ),
        device_columns=["device"],
        checks=(
            in_nanoseconds if whole else time_check("time"),
            op_check,
            *extent_checks(
                "address", "size", offset_unit_bytes=SECTOR_BYTES, length_unit_bytes=SECTOR_BYTES
            ),
        ),
        timestamp_ns=pl.col("time") if whole else nanoseconds("time"),
        op=op_expression,
        offset=pl.col("address") * SECTOR_BYTES,
        length=pl.col("size") * SECTOR_BYTES,
        notes=notes,
    )


def write_five_columns(trace: Trace, file: BinaryIO, name: str, time: pl.Expr) -> list[str]:
    """Write reads and writes of whole sectors, with 1 for a read and 0 for a write."""
    refuse_operations(trace, name, ["read", "write"])
    refuse_early_times(trace, name)
    refuse_part_sectors(trace, name, ["offset", "length"])
    labels = numeric_labels(trace)
    columns = [
        time,
        device_labels(labels),
        sectors("offset"),
        sectors("length"),
        pl.when(pl.col("op") == "read").then(1).otherwise(0),
    ]
    write_columns(trace.requests, columns, " ", file)
    return renaming_notes(trace, labels)
