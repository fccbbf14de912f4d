"""Tencent: traces of the cloud block storage CBS (Zhang et al., ATC 2020), from SNIA IOTTA."""

from __future__ import annotations

import re
from functools import partial
from typing import BinaryIO

import polars as pl

from writeamp.traces.format import Format
from writeamp.traces.row_format import RowFormat, any_line, operation
from writeamp.traces.rows import Check, Kind, RowLayout, extent_checks
from writeamp.traces.text_output import (
    cut_times_notes,
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

_NS_PER_S = 10**9
_LAYOUT = RowLayout(
    ",",
    {
        "timestamp": Kind.WHOLE,
        "offset": Kind.WHOLE,
        "size": Kind.WHOLE,
        "io_type": Kind.WORD,
        "volume_id": Kind.WHOLE,
    },
)
_ROW = re.compile(r"\d+\s*,\s*\d+\s*,\s*\d+\s*,\s*[01]\s*,\s*\d+")
# The opposite of what MQSim, SSDsim and DiskSim mean by 0 and 1.
_OP, _OP_CHECK = operation("io_type", {"read": ["0"], "write": ["1"]})
_LAST_S = MAX_TIMESTAMP_NS // _NS_PER_S

_ROWS = RowFormat(
    name="tencent",
    layout=_LAYOUT,
    device_columns=["volume_id"],
    checks=(
        _OP_CHECK,
        Check(
            pl.col("timestamp") <= _LAST_S,
            f"timestamp {{timestamp}} is out of range, valid are 0 to {_LAST_S} s",
        ),
        *extent_checks(
            "offset", "size", offset_unit_bytes=SECTOR_BYTES, length_unit_bytes=SECTOR_BYTES
        ),
    ),
    timestamp_ns=pl.col("timestamp") * _NS_PER_S,
    op=_OP,
    offset=pl.col("offset") * SECTOR_BYTES,
    length=pl.col("size") * SECTOR_BYTES,
    notes=[
        "times are whole seconds, so that the order within a second is all that is known of it; "
        "sectors of 512 bytes; io_type 0 is a read, 1 a write"
    ],
)


def write(trace: Trace, file: BinaryIO) -> list[str]:
    """Write reads and writes of whole sectors; times are cut to seconds."""
    refuse_operations(trace, "tencent", ["read", "write"])
    refuse_early_times(trace, "tencent")
    refuse_part_sectors(trace, "tencent", ["offset", "length"])
    labels = numeric_labels(trace)
    columns = [
        pl.col("timestamp_ns") // _NS_PER_S,
        sectors("offset"),
        sectors("length"),
        pl.when(pl.col("op") == "read").then(0).otherwise(1),
        device_labels(labels),
    ]
    write_columns(trace.requests, columns, ",", file)
    return [*renaming_notes(trace, labels), *cut_times_notes(trace, _NS_PER_S, "1 s", "tencent")]


FORMAT = Format(
    name="tencent",
    summary="Tencent CBS block traces, comma-separated, one device a volume",
    columns=_LAYOUT.form,
    units="time in seconds since 1970; offset and size in sectors of 512 bytes; io_type 0 read, "
    "1 write",
    detection="five comma-separated whole numbers, the fourth 0 or 1: never certain, must be named",
    matches=partial(any_line, _ROW),
    writer=write,
    certain=False,
    rows=lambda path: _ROWS,
)
