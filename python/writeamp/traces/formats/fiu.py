"""FIU: traces with hashes of content (SRCMap, I/O deduplication), from SNIA IOTTA."""

from __future__ import annotations

import re
from dataclasses import replace

import polars as pl

from writeamp.traces.format import Format
from writeamp.traces.line_rows import numbered_lines, with_fields
from writeamp.traces.row_format import request_rows
from writeamp.traces.rows import FieldKind, RowLayout
from writeamp.traces.source import TextBlock
from writeamp.traces.trace import SECTOR_BYTES

_LAYOUT = RowLayout(
    " ",
    {
        "ts": FieldKind.WHOLE,
        "pid": FieldKind.IGNORED,
        "process": FieldKind.IGNORED,
        "lba": FieldKind.WHOLE,
        "size": FieldKind.WHOLE,
        "rw": FieldKind.WORD,
        "major": FieldKind.WHOLE,
        "minor": FieldKind.WHOLE,
    },
    open_ended=True,
)
# Names of processes may contain spaces; they are replaced by one word.
_FORM = rb"^[ \t]*(\d+)[ \t]+(\d+)[ \t]+.*?[ \t]+(\d+)[ \t]+(\d+)[ \t]+([RrWw])[ \t]+(\d+)[ \t]+"
_LINE = re.compile(_FORM + rb"(\d+)([^\n]*)", re.MULTILINE)
_ROW = re.compile(r"\d+\s+\d+\s+.*?\s+\d+\s+\d+\s+[RrWw]\s+\d+\s+\d+(\s+[0-9a-fA-F]{32})?")
_ORIGIN = r"^[ \t]*\d+[ \t]+(\d+)[ \t]+(.*?)[ \t]+\d+[ \t]+\d+[ \t]+[RrWw][ \t]"
_FIELDS = len(_LAYOUT.fields) + 1


def _with_one_word(block: TextBlock) -> TextBlock:
    """Return a block in which each process name is a single word."""
    text = block.text
    if all(len(line.split()) in (0, _FIELDS) for line in text.split(b"\n")):
        return block
    return replace(block, text=_LINE.sub(rb"\1 \2 _ \3 \4 \5 \6 \7\8", text))


def _origins(block: TextBlock) -> pl.DataFrame:
    lines = numbered_lines(block).filter(pl.col("line").str.contains(r"\S"))
    return with_fields(lines.select("line"), "line", _ORIGIN, ["pid", "process"])


_ROWS = request_rows(
    "fiu",
    _LAYOUT,
    ["major", "minor"],
    ("rw", {"read": ["R", "r"], "write": ["W", "w"]}),
    time="ts",
    offset=("lba", SECTOR_BYTES),
    length=("size", SECTOR_BYTES),
    device_separator=",",
    notes=["times are nanoseconds; sectors of 512 bytes; hashes of the content are not used"],
    without_others=_with_one_word,
    origins=_origins,
)


FORMAT = Format.of_rows(
    _ROWS,
    _ROW,
    is_written=False,
    summary="FIU traces of SRCMap and I/O deduplication (SNIA IOTTA), with hashes of content",
    columns="ts pid process lba size rw major minor [md5]",
    units="time in ns; lba and size in sectors of 512 bytes; rw R or W",
    detection="rows of this form, with any words for the process",
)
