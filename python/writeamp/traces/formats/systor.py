"""SYSTOR '17: traces of an enterprise's virtual desktops (Lee et al., SYSTOR 2017), by LUN."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from pathlib import Path

from writeamp.traces.format import Format
from writeamp.traces.line_rows import LeftOut
from writeamp.traces.row_format import RowFormat, any_line, request_rows
from writeamp.traces.rows import FieldKind, RowLayout
from writeamp.traces.source import TextBlock

_LAYOUT = RowLayout(
    ",",
    {
        "Timestamp": FieldKind.SECONDS,
        "Response": FieldKind.IGNORED,
        "IOType": FieldKind.WORD,
        "LUN": FieldKind.WHOLE,
        "Offset": FieldKind.WHOLE,
        "Size": FieldKind.WHOLE,
    },
)
_ROW = re.compile(r"\d+\.\d+\s*,[\d.\s]*,\s*[RW]?\s*,\s*\d+\s*,\s*\d+\s*,\s*\d+")
_HEADER = re.compile(rb"\s*timestamp\s*,\s*response\s*,[^\n]*", re.IGNORECASE)
_WITHOUT_TYPE = re.compile(rb"^[^,\n]*,[^,\n]*,[ \t]*,[^\n]*", re.MULTILINE)


def _rows(path: Path) -> RowFormat:
    left_out = LeftOut()

    def without_untyped(block: TextBlock) -> TextBlock:
        text, count = _WITHOUT_TYPE.subn(b"", block.text)
        left_out.reasons["rows without IOType"] += count
        return replace(block, text=text) if count else block

    return request_rows(
        "systor",
        _LAYOUT,
        ["LUN"],
        ("IOType", {"read": ["R"], "write": ["W"]}),
        time="Timestamp",
        offset=("Offset", 1),
        length=("Size", 1),
        notes=["times are seconds since 1970; offsets and sizes are bytes; a LUN is a device"],
        header=_HEADER,
        without_others=without_untyped,
        left_out=left_out.notes,
    )


FORMAT = Format(
    name="systor",
    summary="SYSTOR '17 traces of virtual desktops (SNIA IOTTA), one file per LUN and hour",
    columns=_LAYOUT.form,
    units="time in seconds since 1970; offset and size in bytes; IOType R, W or empty",
    detection="six comma-separated fields, the first decimal seconds, the third R, W or empty",
    matches=partial(any_line, _ROW),
    rows=_rows,
)
