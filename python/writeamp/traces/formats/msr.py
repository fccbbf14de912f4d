"""MSR Cambridge: comma-separated traces (Narayanan et al., FAST 2008), from SNIA IOTTA."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import BinaryIO

import polars as pl

from writeamp.traces.format import Format
from writeamp.traces.row_format import RowFormat, any_line, operation
from writeamp.traces.rows import FieldKind, RowCheck, RowLayout, extent_checks
from writeamp.traces.source import read_head
from writeamp.traces.text_output import (
    DEVICE,
    cut_times_notes,
    read_or_write,
    refuse_early_times,
    refuse_operations,
    renaming_notes,
    write_columns,
)
from writeamp.traces.trace import MAX_TIMESTAMP_NS, Trace

# Timestamps are Windows file times: ticks of 100 ns since 1601. In nanoseconds, today's times since
# 1601 overflow 64 bits, so they are first converted to times since 1970.
_TICK_NS = 100
_MOST_DIGITS = 20
_TICKS_1601_TO_1970 = 116_444_736_000_000_000

_LAYOUT = RowLayout(
    ",",
    {
        "Timestamp": FieldKind.WHOLE,
        "Hostname": FieldKind.WORD,
        "DiskNumber": FieldKind.WHOLE,
        "Type": FieldKind.WORD,
        "Offset": FieldKind.WHOLE,
        "Size": FieldKind.WHOLE,
        # The response time is not used and overflows in some files: only its presence is checked.
        "ResponseTime": FieldKind.WORD,
    },
)
_ROW = re.compile(
    r"\d+\s*,[^,]*,\s*\d+\s*,\s*(read|write)\s*,\s*\d+\s*,\s*\d+\s*,[^,]+", re.IGNORECASE
)
# The files of the collection have no header, but some copies do.
_HEADER = re.compile(rb"\s*timestamp\s*,\s*hostname\s*,[^\n]*", re.IGNORECASE)
_DEVICE = re.compile(r"([^,\s]+)_(\d{1,18})")


def write(trace: Trace, file: BinaryIO) -> list[str]:
    """Write reads and writes; times are cut to 100 ns, response times are 0."""
    refuse_operations(trace, "msr", ["read", "write"])
    refuse_early_times(trace, "msr")
    labels = _host_and_disk_labels(trace)
    notes = renaming_notes(trace, [label.replace(",", "_") for label in labels])
    ticks = pl.col("timestamp_ns") // _TICK_NS
    notes += cut_times_notes(trace, _TICK_NS, "100 ns", "msr")
    columns = [
        ticks + _TICKS_1601_TO_1970,
        DEVICE,
        read_or_write("Read", "Write"),
        pl.col("offset"),
        pl.col("length"),
        pl.lit(0),
    ]
    write_columns(trace.requests, columns, ",", file, labels=labels)
    return notes


def _rows(origin_ticks: int) -> RowFormat:
    op, op_check = operation(
        "Type", {"read": ["Read", "read", "READ"], "write": ["Write", "write", "WRITE"]}
    )
    reach_ticks = MAX_TIMESTAMP_NS // _TICK_NS
    first, last = max(0, origin_ticks - reach_ticks), origin_ticks + reach_ticks
    counted_from = "1601 (a Windows file time)" if origin_ticks else "the start of the trace"
    return RowFormat(
        name="msr",
        layout=_LAYOUT,
        device_columns=["Hostname", "DiskNumber"],
        checks=(
            RowCheck(
                pl.col("Timestamp").is_between(first, last),
                f"Timestamp {{Timestamp}} is out of range, valid are {first} to {last} "
                f"ticks of 100 ns since {counted_from}",
            ),
            op_check,
            *extent_checks("Offset", "Size"),
        ),
        timestamp_ns=(pl.col("Timestamp").cast(pl.Int64) - origin_ticks) * _TICK_NS,
        op=op,
        offset=pl.col("Offset"),
        length=pl.col("Size"),
        notes=[f"times are ticks of 100 ns since {counted_from}; offsets and sizes are bytes"],
        header=_HEADER,
    )


def _origin_ticks(path: Path) -> int:
    """Return the tick that becomes time 0.

    Some copies have times since the start of the trace, in the same ticks; a first time before
    1970 identifies them.
    """
    for line in read_head(path).lines:
        first_field = line.split(",")[0].strip()
        # int() rejects thousands of digits with a message of its own; the check of rows is clearer.
        if first_field.isdecimal() and len(first_field) <= _MOST_DIGITS:
            return _TICKS_1601_TO_1970 if int(first_field) >= _TICKS_1601_TO_1970 else 0
    return _TICKS_1601_TO_1970


def _host_and_disk_labels(trace: Trace) -> list[str]:
    matches = [_DEVICE.fullmatch(name) for name in trace.devices]
    return [
        f"{match[1]},{int(match[2])}" if match else f"dev,{position}"
        for position, match in enumerate(matches)
    ]


FORMAT = Format(
    name="msr",
    summary="MSR Cambridge block traces (SNIA IOTTA), comma-separated",
    columns=_LAYOUT.form,
    units="time in 100 ns since 1601 (Windows file time); offset and size in bytes; "
    "Type Read or Write",
    detection="seven comma-separated fields, the fourth Read or Write",
    matches=partial(any_line, _ROW),
    writer=write,
    rows=lambda path: _rows(_origin_ticks(path)),
)
