"""biosnoop: the table of completed requests from the BPF tools of bcc."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from writeamp.errors import WriteampError
from writeamp.text import quoted
from writeamp.traces.format import Format
from writeamp.traces.formats.blkparse import operation_of_rwbs
from writeamp.traces.line_rows import LeftOut, numbered_lines, with_rows
from writeamp.traces.row_format import RowFormat, any_line, request_rows
from writeamp.traces.rows import FieldKind, RowCheck, RowLayout, nanoseconds
from writeamp.traces.source import Head, TextBlock, read_head
from writeamp.traces.trace import MAX_TIMESTAMP_NS, OPERATIONS, SECTOR_BYTES

_FORM = "TIME(s) COMM PID DISK T SECTOR BYTES [P] [QUE(ms)] LAT(ms)"
_USUAL = ("TIME(s)", "COMM", "PID", "DISK", "T", "SECTOR", "BYTES")
# Names of processes may contain spaces, and the disk may be missing.
_PATTERNS = {
    "TIME(s)": r"(?P<time>-?[0-9]+\.[0-9]+)",
    "COMM": r"(?P<process>.*?)",
    "PID": r"(?P<pid>-?[0-9]+)",
    "DISK": r"(?P<disk>\S*?)",
    "T": r"(?P<rwbs>[A-Z]+)",
    "SECTOR": r"(?P<sector>-?[0-9]+)",
    "BYTES": r"(?P<bytes>[0-9]+)",
}
_ANYTHING = r"\S+"
_NEEDED = ("T", "SECTOR", "BYTES")
_NO_NAME = "?"  # name of an unknown process
# Sector of a request without sectors: -1, signed or as an unsigned 64-bit number.
_NO_SECTOR = ("-1", "18446744073709551615")
_LOST = re.compile(r"\blost (\d+) (?:events|samples)", re.IGNORECASE)
_CHATTER = r"^\s*(?:\^C|Tracing |Detaching)|^\s*$"
_ROW = re.compile(
    r"-?\d+\.\d+\s+\S.*?\s+\d+\s+\S*\s+[RWDFN][A-Z]*\s+(-1|\d+)\s+\d+(\s+[SR?])?(\s+-?\d+\.\d+){1,2}"
)

_LAYOUT = RowLayout(
    " ",
    {
        "time": FieldKind.SECONDS,
        "disk": FieldKind.WORD,
        "operation": FieldKind.WORD,
        "sector": FieldKind.WHOLE,
        "bytes": FieldKind.WHOLE,
    },
)
_OP = ("operation", {name: [name] for name in OPERATIONS})
_TIME = (
    nanoseconds("time"),
    # Times may be negative: the clock starts at the first printed row, which need not be the
    # earliest one.
    RowCheck(
        nanoseconds("time").is_between(-MAX_TIMESTAMP_NS, MAX_TIMESTAMP_NS),
        "time {time} is out of range, valid are seconds within 2^63 ns of 0",
    ),
)
# A header line proves that sizes are in bytes. Without a header, all sizes must be multiples of 512
# bytes, as sizes in bytes are.
_WHOLE_SECTORS = RowCheck(
    pl.col("bytes") % SECTOR_BYTES == 0,
    f"bytes is {{bytes}}, not a multiple of {SECTOR_BYTES}, and without a header the unit is "
    f"unknown: add the header line of biosnoop as the first line ({_FORM})",
)


def _rows(path: Path) -> RowFormat:
    names = _header(read_head(path).lines)
    missing = [name for name in _NEEDED if names and name not in names]
    if names and missing:
        raise WriteampError(
            f"{path}: its columns are {' '.join(names)}, without {', '.join(missing)}: the written "
            "sectors are unknown (biosnoop of bcc prints them, biosnoop.bt of bpftrace does not)"
        )
    rewrite = _Rewriting(names or _USUAL, is_headed=names is not None)
    notes = ["times are those of completion, in s; sectors of 512 bytes, sizes in bytes"]
    if names is None:
        notes.append(f"no header line: columns are assumed to be {_FORM}")
    elif "TIME(s)" not in names:
        notes.append("the table has no column TIME(s), so requests have no times")
    return request_rows(
        "biosnoop",
        _LAYOUT,
        ["disk"],
        _OP,
        time=_TIME,
        offset=("sector", SECTOR_BYTES),
        length=("bytes", 1),
        more_checks=[] if names else [_WHOLE_SECTORS],
        notes=notes,
        without_others=rewrite.rows_of,
        left_out=rewrite.left_out.notes,
        doubts=rewrite.left_out.doubts,
        origins=rewrite.origins,
    )


def _header(lines: Sequence[str]) -> list[str] | None:
    """Return the names of the columns, or None without a header line."""
    return next((line.split() for line in lines if _is_header(line.split())), None)


def _is_header(names: Sequence[str]) -> bool:
    return {"COMM", "PID", "LAT(ms)"} <= set(names)


class _Rewriting:
    """Converter of biosnoop's table to rows, with counts of skipped lines."""

    def __init__(self, names: Sequence[str], *, is_headed: bool) -> None:
        self._is_past_header = not is_headed
        self.left_out = LeftOut()
        self._requests_of_block = pl.DataFrame()
        columns = names[: max(names.index(name) for name in _NEEDED) + 1]
        gap = r"[ \t]+"
        patterns = gap.join(_PATTERNS.get(name, _ANYTHING) for name in columns)
        # At least the latency follows the size, so a row that is cut off within the size does not
        # match.
        self._pattern = rf"^[ \t]*{patterns}{gap}\S"

    def rows_of(self, block: TextBlock) -> TextBlock:
        """Return a block with rows of time, disk, operation, sector and bytes."""
        lines = numbered_lines(block)
        groups = pl.col("line").str.extract_groups(self._pattern)
        fields = lines.with_columns(groups.alias("fields")).unnest("fields")
        if "time" not in fields.columns:
            fields = fields.with_columns(time=pl.lit("0"))
        self._look_at_others(block, fields.filter(pl.col("bytes").is_null()))
        self._requests_of_block = self._requests(fields.drop_nulls("bytes"))
        return with_rows(block, lines, self._requests_of_block)

    def origins(self, block: TextBlock) -> pl.DataFrame:
        """Return the processes of the requests of the last block of `rows_of`."""
        return self._requests_of_block.select(pl.col("process").replace(_NO_NAME, ""), "pid")

    def _look_at_others(self, block: TextBlock, others: pl.DataFrame) -> None:
        odd = others.filter(~pl.col("line").str.contains(_CHATTER))
        for number, line in odd.select("number", "line").iter_rows():
            if _is_header(line.split()):
                self._is_past_header = True
            elif lost := _LOST.search(line):
                self.left_out.lost += int(lost[1])
            elif self._is_past_header or block.first_line > 1:
                raise block.fault(number, f"the row is {quoted(line.strip())}, valid is {_FORM}")
            else:  # output of bcc while it compiles the program
                self.left_out.reasons["lines before the header"] += 1

    def _requests(self, fields: pl.DataFrame) -> pl.DataFrame:
        names = {word: operation_of_rwbs(word) or word for word in fields["rwbs"].unique()}
        named = fields.with_columns(
            name=pl.col("rwbs").replace_strict(names, return_dtype=pl.String),
            # An event without disk and bytes is the end of a flush.
            has_sector=~(
                pl.col("sector").is_in(_NO_SECTOR)
                | ((pl.col("disk") == "") & (pl.col("bytes") == "0"))
            ),
            disk=pl.when(pl.col("disk") == "").then(pl.lit("?")).otherwise("disk"),
        )
        is_flush = pl.col("name") == "flush"
        is_request = is_flush | (pl.col("has_sector") & (pl.col("name") != "none"))
        requests = named.filter(is_request)
        self.left_out.reasons["commands without a sector or an operation"] += (
            named.height - requests.height
        )
        extent = (
            pl.when(is_flush).then(pl.lit("0 0")).otherwise(pl.format("{} {}", "sector", "bytes"))
        )
        return requests.select(
            "number",
            "process",
            "pid",
            row=pl.format("{} {} {} {}", "time", "disk", "name", extent),
        )


def _matches(head: Head) -> bool:
    return _header(head.lines) is not None or any_line(_ROW, head)


FORMAT = Format(
    name="biosnoop",
    summary="completed requests from biosnoop of bcc and libbpf-tools",
    columns=_FORM,
    units="time of completion in seconds since the start; sectors of 512 bytes; sizes in bytes; "
    "T is R or W, or RWBS as in blkparse",
    detection="a header with COMM, PID and LAT(ms), or rows of this form",
    matches=_matches,
    unmistakable=True,
    rows=_rows,
)
