"""xperf: disk events of Windows (ETW), as text from `dumper` and `diskio -detail`."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl

from writeamp.text import quoted
from writeamp.traces.format import Format
from writeamp.traces.line_rows import LeftOut, numbered_lines, with_fields, with_rows
from writeamp.traces.row_format import RowFormat, request_rows
from writeamp.traces.rows import FieldKind, RowLayout
from writeamp.traces.source import Head, TextBlock

_FORM = (
    "DiskWrite, TimeStamp, Process Name ( PID), ThreadID, [CPU,] IrpPtr, ByteOffset, IOSize, "
    "ElapsedTime, DiskNum, …"
)
_NUMBER, _HEX = r"[ \t]*([0-9]+)[ \t]*,", r"[ \t]*0x([0-9a-fA-F]+)[ \t]*,"
_UNREAD, _UNREAD_HEX = r"[ \t]*[0-9]+[ \t]*,", r"[ \t]*0x[0-9a-fA-F]+[ \t]*,"
_DISK = r"[ \t]*([0-9]+)[ \t\r]*(?:,|$)"
_OF_DATA = r"^[ \t]*(DiskRead|DiskWrite)[ \t]*,"
# Names of processes may contain commas, so the pattern matches the columns after the name.
_TO_POINTER = rf"{_NUMBER}.*?,{_UNREAD}(?:{_UNREAD})?{_UNREAD_HEX}"
# In `dumper` the offset comes before the size, in `diskio -detail` after it.
_DUMPED = rf"{_OF_DATA}{_TO_POINTER}{_HEX}{_HEX}{_UNREAD}{_DISK}"
_TO_PROCESS_ID = r".*?\([ \t]*-?[0-9]+\)[ \t]*,"
_DETAILED = rf"{_OF_DATA}{_NUMBER}{_UNREAD * 3}{_HEX}{_HEX}{_TO_PROCESS_ID}{_DISK}"
_FLUSH = rf"^[ \t]*(DiskFlush)[ \t]*,{_TO_POINTER}(?:[ \t]*,)*{_UNREAD}{_DISK}"
_DISK_EVENT = r"^[ \t]*Disk(Read|Write|Flush)[ \t]*,"
_IS_HEADER = r"^[ \t]*(?:Disk(?:Read|Write|Flush)[ \t]*,[ \t]*TimeStamp|IO Type[ \t]*,)"
# Origins of requests: process, its number and the file. In `diskio -detail`, numbers are before the
# process; in `dumper`, the file is in quotes at the end, if it is recorded.
_PROCESS = r"[ \t]*(.*?)[ \t]*\([ \t]*([0-9]+)\)[ \t]*,"
_ORIGIN_DETAILED = (
    rf"{_OF_DATA}(?:{_UNREAD}){{4}}(?:{_UNREAD_HEX}){{2}}(?:{_UNREAD})*{_PROCESS}"
    rf"{_UNREAD}[ \t]*(.*?)[ \t\r]*$"
)
_ORIGIN_DUMPED = rf"^[^,]*,{_UNREAD}{_PROCESS}{_UNREAD}[^\"]*(?:\"([^\"]*)\"[ \t\r]*)?$"
_ORIGINS = ["process", "pid", "file"]
_UNKNOWN_FILE = "Unknown"
_KNOWN_HEADER = (
    r"^[ \t]*DiskFlush|ThreadID,[ \t]*(?:CPU,[ \t]*)?IrpPtr,[ \t]*ByteOffset,[ \t]*IOSize,"
    r"|IO Type, Start Time,[ \t]*End Time,[^,]*,[^,]*,[ \t]*IO Size,[ \t]*Byte Offset,"
)
_DETECTED = re.compile(
    rb"^[ \t]*Disk(?:Read|Write)[ \t]*,[ \t]*(?:TimeStamp[ \t]*,|[0-9]+[ \t]*,)", re.MULTILINE
)
_LOST = re.compile(r"Events Lost: (\d+)(?:, Buffers lost: (\d+))?", re.IGNORECASE)

_LAYOUT = RowLayout(
    " ",
    {
        "TimeStamp": FieldKind.MICROSECONDS,
        "DiskNum": FieldKind.WHOLE,
        "event": FieldKind.WORD,
        "ByteOffset": FieldKind.WHOLE,
        "IOSize": FieldKind.WHOLE,
    },
)
_OP = ("event", {"read": ["DiskRead"], "write": ["DiskWrite"], "flush": ["DiskFlush"]})


class _DiskEvents:
    """Disk events as rows, and counts of events left out."""

    def __init__(self) -> None:
        self.left_out = LeftOut()
        self._lost_buffers = 0
        self._lines = pl.DataFrame()

    def origins(self, block: TextBlock) -> pl.DataFrame:
        """Return processes and files of the requests of the last block of `rows_of`."""
        lines = self._lines.select("line")
        dumped = with_fields(lines, "line", _ORIGIN_DUMPED, ["process", "pid", "file"])
        detailed = with_fields(lines, "line", _ORIGIN_DETAILED, ["event", *_ORIGINS])
        is_detailed = detailed["event"].is_not_null()
        chosen = [dumped[name].zip_with(~is_detailed, detailed[name]) for name in _ORIGINS]
        names = pl.DataFrame(chosen)
        return names.with_columns(pl.col("file").replace(_UNKNOWN_FILE, ""))

    def doubts(self) -> list[str]:
        """Return warnings about missing events."""
        doubts = self.left_out.doubts()
        if self._lost_buffers:
            doubts.append(f"{self._lost_buffers} buffers of events were lost while recording")
        return doubts

    def rows_of(self, block: TextBlock) -> TextBlock:
        """Return a block with rows of time, disk, event, offset and size; other lines are empty."""
        lines = numbered_lines(block)
        self._look_at_others(block, lines)
        events = lines.filter(
            pl.col("line").str.contains(_DISK_EVENT) & ~pl.col("line").str.contains(_IS_HEADER)
        )
        requests = _of_data(events, _DUMPED, ["offset", "size"])
        requests = pl.concat([requests, _of_data(events, _DETAILED, ["size", "offset"])])
        requests = pl.concat([requests, _of_flushes(events)])
        others = events.join(requests, on="number", how="anti")
        is_flush = others["line"].str.contains(r"^[ \t]*DiskFlush")
        self.left_out.reasons["flushes of an unknown disk"] += int(is_flush.sum())
        odd = others.filter(~is_flush)
        if odd.height:
            number, line = odd.sort("number").select("number", "line").row(0)
            raise block.fault(number, f"the event is {quoted(line.strip())}, valid is {_FORM}")
        self._lines = events.join(requests, on="number", how="semi", maintain_order="left")
        return with_rows(block, lines, requests)

    def _look_at_others(self, block: TextBlock, lines: pl.DataFrame) -> None:
        """Count lost events, and reject a header with unknown columns."""
        for line in lines.filter(pl.col("line").str.contains("Events Lost:"))["line"]:
            if lost := _LOST.search(line):
                self.left_out.lost += int(lost[1])
                self._lost_buffers += int(lost[2] or 0)
        line = pl.col("line")
        odd = lines.filter(line.str.contains(_IS_HEADER) & ~line.str.contains(_KNOWN_HEADER))
        if odd.height:
            number, header = odd.select("number", "line").row(0)
            raise block.fault(number, f"the header is {quoted(header.strip())}, valid is {_FORM}")


def _of_data(events: pl.DataFrame, pattern: str, extent: list[str]) -> pl.DataFrame:
    """Return the read and write events of one column order, as columns `number` and `row`."""
    fields = with_fields(events, "line", pattern, ["event", "time", *extent, "disk"])
    decimal = [
        pl.col(name).str.to_integer(base=16, dtype=pl.UInt64, strict=False).cast(pl.String)
        for name in ("offset", "size")
    ]
    return (
        fields.with_columns(decimal)
        .drop_nulls(["event", "offset", "size"])
        .select(
            "number", row=pl.format("{} {} {} {} {}", "time", "disk", "event", "offset", "size")
        )
    )


def _of_flushes(events: pl.DataFrame) -> pl.DataFrame:
    flushes = with_fields(events, "line", _FLUSH, ["event", "time", "disk"]).drop_nulls("event")
    return flushes.select("number", row=pl.format("{} {} {} 0 0", "time", "disk", "event"))


def _rows(path: Path) -> RowFormat:
    events = _DiskEvents()
    return request_rows(
        "xperf",
        _LAYOUT,
        ["DiskNum"],
        _OP,
        time="TimeStamp",
        offset=("ByteOffset", 1),
        length=("IOSize", 1),
        notes=[
            "times are microseconds: completions in the output of dumper, starts of requests in "
            "that of diskio -detail; offsets and sizes are hexadecimal bytes"
        ],
        without_others=events.rows_of,
        left_out=events.left_out.notes,
        doubts=events.doubts,
        origins=events.origins,
    )


def _matches(head: Head) -> bool:
    return bool(_DETECTED.search(head.start)) or b"IO Type, Start Time," in head.start


FORMAT = Format(
    name="xperf",
    summary="disk events of Windows from xperf -a dumper and -a diskio -detail",
    columns=_FORM,
    units="time in us; offset and size in hexadecimal bytes; DiskRead, DiskWrite or DiskFlush",
    detection="lines that begin with DiskRead or DiskWrite and a time, or their header",
    matches=_matches,
    unmistakable=True,
    rows=_rows,
)
