"""SYSTOR '17: traces of an enterprise's virtual desktops (Lee et al., SYSTOR 2017), by LUN."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from pathlib import Path

import polars as pl

from writeamp.traces.format import Format
from writeamp.traces.line_rows import LeftOut
from writeamp.traces.row_format import RowFormat, any_line, operation
from writeamp.traces.rows import Kind, RowLayout, extent_checks, nanoseconds, time_check
from writeamp.traces.source import Block

_LAYOUT = RowLayout(
    ",",
    {
        "Timestamp": Kind.SECONDS,
        "Response": Kind.IGNORED,
        "IOType": Kind.WORD,
        "LUN": Kind.WHOLE,
        "Offset": Kind.WHOLE,
        "Size": Kind.WHOLE,
    },
)
_ROW = re.compile(r"\d+\.\d+\s*,[\d.\s]*,\s*[RW]?\s*,\s*\d+\s*,\s*\d+\s*,\s*\d+")
_HEADER = re.compile(rb"\s*timestamp\s*,\s*response\s*,[^\n]*", re.IGNORECASE)
_WITHOUT_TYPE = re.compile(rb"^[^,\n]*,[^,\n]*,[ \t]*,[^\n]*", re.MULTILINE)
_OP, _OP_CHECK = operation("IOType", {"read": ["R"], "write": ["W"]})


def _rows(path: Path) -> RowFormat:
    left_out = LeftOut()

    def without_untyped(block: Block) -> Block:
        text, count = _WITHOUT_TYPE.subn(b"", block.text)
        left_out.reasons["rows without IOType"] += count
        return replace(block, text=text) if count else block

    return RowFormat(
        name="systor",
        layout=_LAYOUT,
        device_columns=["LUN"],
        checks=(_OP_CHECK, time_check("Timestamp"), *extent_checks("Offset", "Size")),
        timestamp_ns=nanoseconds("Timestamp"),
        op=_OP,
        offset=pl.col("Offset"),
        length=pl.col("Size"),
        notes=["times are seconds since 1970; offsets and sizes are bytes; a LUN is a device"],
        header=_HEADER,
        without_others=without_untyped,
        left_out=left_out.notes,
    )


FORMAT = Format(
    name="systor",
    summary="SYSTOR '17 traces of virtual desktops (SNIA IOTTA), one file a LUN and hour",
    columns=_LAYOUT.form,
    units="time in seconds since 1970; offset and size in bytes; IOType R, W or empty",
    detection="six comma-separated fields, the first decimal seconds, the third R, W or empty",
    matches=partial(any_line, _ROW),
    rows=_rows,
)
