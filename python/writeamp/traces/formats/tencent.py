"""Tencent: traces of the cloud block storage CBS (Zhang et al., ATC 2020), from SNIA IOTTA."""

from __future__ import annotations

import re
from functools import partial
from typing import BinaryIO

import polars as pl

from writeamp.traces.format import Format
from writeamp.traces.row_format import any_line, operation, request_rows, whole_ticks
from writeamp.traces.rows import Kind, RowLayout
from writeamp.traces.text_output import DEVICE, read_or_write, sectors, write_reads_and_writes
from writeamp.traces.trace import SECTOR_BYTES, Trace

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
_ROWS = request_rows(
    "tencent",
    _LAYOUT,
    ["volume_id"],
    # The opposite of what MQSim, SSDsim and DiskSim mean by 0 and 1.
    operation("io_type", {"read": ["0"], "write": ["1"]}),
    time=whole_ticks("timestamp", _NS_PER_S, "s"),
    offset=("offset", SECTOR_BYTES),
    length=("size", SECTOR_BYTES),
    notes=[
        "times are whole seconds, so that the order within a second is all that is known of it; "
        "sectors of 512 bytes; io_type 0 is a read, 1 a write"
    ],
)


def write(trace: Trace, file: BinaryIO) -> list[str]:
    """Write reads and writes of whole sectors; times are cut to seconds."""
    columns = [
        pl.col("timestamp_ns") // _NS_PER_S,
        sectors("offset"),
        sectors("length"),
        read_or_write("0", "1"),
        DEVICE,
    ]
    return write_reads_and_writes(
        trace,
        file,
        "tencent",
        columns,
        in_sectors=["offset", "length"],
        tick=(_NS_PER_S, "1 s"),
    )


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
