"""The family ``time device address size type``, which most SSD simulators read.

Its members look the same and differ in the unit of time, so none is detected. A file read as the
wrong member would give no error and run a thousand or a million times too fast or too slow.
"""

from __future__ import annotations

import re
from typing import Any

from writeamp.traces.format import Format
from writeamp.traces.row_format import request_rows
from writeamp.traces.rows import FieldKind, RowLayout
from writeamp.traces.trace import SECTOR_BYTES

# In this family 1 is a read and 0 a write, contrary to Tencent's traces.
_TYPES = {"read": ["1"], "write": ["0"]}
_ROW_IN_NANOSECONDS = re.compile(r"\d+\s+\d+\s+\d+\s+\d+\s+[01]")


def five_columns(
    name: str,
    note: str,
    *,
    time: FieldKind = FieldKind.WHOLE,
    type_column: str = "type",
    parsed_op: Any = None,
    row: re.Pattern[str] = _ROW_IN_NANOSECONDS,
    last: str = "0 or 1",
    **others: Any,
) -> Format:
    """Return one member of the family.

    Args:
        name: the format's name.
        note: the assumptions about every trace of this format.
        time: kind of the time field, which has the time unit; WHOLE for whole nanoseconds.
        type_column: the name of the column of operations.
        parsed_op: as in `request_rows`.
        row: pattern of a row.
        last: content of the last column, in words.
        others: the remaining attributes of `Format`.
    """
    fields = {"time": time} | dict.fromkeys(("device", "address", "size"), FieldKind.WHOLE)
    rows = request_rows(
        name,
        RowLayout(" ", fields | {type_column: FieldKind.WORD}),
        ["device"],
        (type_column, _TYPES),
        time="time",
        offset=("address", SECTOR_BYTES),
        length=("size", SECTOR_BYTES),
        parsed_op=parsed_op,
        notes=[note],
    )
    numbers = "whole numbers" if time is FieldKind.WHOLE else "numbers"
    detection = f"five columns of {numbers}, the last {last}: never certain, so name the format"
    return Format.of_rows(rows, row, detection=detection, certain=False, **others)
