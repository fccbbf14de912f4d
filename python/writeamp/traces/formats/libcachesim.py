"""CSV of libCacheSim's samples: the commands of a VSCSI trace as text."""

from __future__ import annotations

import re

from writeamp.traces.format import Format
from writeamp.traces.row_format import request_rows
from writeamp.traces.rows import FieldKind, RowLayout
from writeamp.traces.source import Head
from writeamp.traces.trace import SECTOR_BYTES

_LAYOUT = RowLayout(
    ",",
    {
        "version": FieldKind.IGNORED,
        "time": FieldKind.SECONDS,
        "op": FieldKind.WORD,
        "size": FieldKind.WHOLE,
        "lbn": FieldKind.WHOLE,
    },
)
_HEADER = re.compile(rb"\s*version\s*,\s*time\s*,\s*op\s*,\s*size\s*,\s*lbn[^\n]*", re.IGNORECASE)
# Operation codes of SCSI's READ and WRITE commands (of 6, 10, 12 and 16 bytes), in hexadecimal.
_OPERATIONS = {
    "read": ["28", "8", "08", "88", "a8", "A8"],
    "write": ["2a", "2A", "a", "0a", "0A", "8a", "8A", "aa", "AA"],
}
_ROWS = request_rows(
    "libcachesim",
    _LAYOUT,
    [],
    ("op", _OPERATIONS),
    time="time",
    offset=("lbn", SECTOR_BYTES),
    length=("size", 1),
    notes=["times are seconds; lbn is in sectors of 512 bytes, size in bytes; one device"],
    header=_HEADER,
)


def _matches(head: Head) -> bool:
    return bool(head.lines) and _HEADER.fullmatch(head.lines[0].encode()) is not None


FORMAT = Format(
    name="libcachesim",
    summary="libCacheSim's CSV of VSCSI traces, with a header",
    columns=_LAYOUT.form,
    units="time in seconds; lbn in sectors of 512 bytes; size in bytes; op a SCSI command in "
    "hexadecimal, 28 read, 2a write",
    detection="begins with the header version,time,op,size,lbn",
    matches=_matches,
    rows=lambda path: _ROWS,
)
