"""Alibaba: the block traces of a cloud's thousand volumes (Li et al., IISWC 2020)."""

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
    renaming_notes,
    write_columns,
)
from writeamp.traces.trace import MAX_TIMESTAMP_NS, Trace

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
_OP, _OP_CHECK = operation("opcode", {"read": ["R"], "write": ["W"]})
_LAST_US = MAX_TIMESTAMP_NS // _NS_PER_US

_ROWS = RowFormat(
    name="alibaba",
    layout=_LAYOUT,
    device_columns=["device_id"],
    checks=(
        _OP_CHECK,
        Check(
            pl.col("timestamp") <= _LAST_US,
            f"timestamp {{timestamp}} is out of range, valid are 0 to {_LAST_US} us",
        ),
        *extent_checks("offset", "length"),
    ),
    timestamp_ns=pl.col("timestamp") * _NS_PER_US,
    op=_OP,
    offset=pl.col("offset"),
    length=pl.col("length"),
    notes=["times are microseconds; offsets and lengths are bytes"],
)


def write(trace: Trace, file: BinaryIO) -> list[str]:
    """Write reads and writes; times are cut to microseconds."""
    refuse_operations(trace, "alibaba", ["read", "write"])
    refuse_early_times(trace, "alibaba")
    labels = numeric_labels(trace)
    columns = [
        device_labels(labels),
        pl.when(pl.col("op") == "read").then(pl.lit("R")).otherwise(pl.lit("W")),
        pl.col("offset"),
        pl.col("length"),
        pl.col("timestamp_ns") // _NS_PER_US,
    ]
    write_columns(trace.requests, columns, ",", file)
    return [*renaming_notes(trace, labels), *cut_times_notes(trace, _NS_PER_US, "1 us", "alibaba")]


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
