"""iolog: fio's own log (``write_iolog``, ``read_iolog``), versions 2 and 3."""

from __future__ import annotations

import re
from pathlib import Path
from typing import BinaryIO

import polars as pl

from writeamp.text import Detail, quoted
from writeamp.traces.assemble import DeviceCodes, assemble
from writeamp.traces.format import Format, ReadOptions
from writeamp.traces.rows import RowCheck, first_failure, read_lines
from writeamp.traces.source import Head, TextBlock, read_blocks
from writeamp.traces.text_output import (
    DEVICE,
    cut_times_notes,
    refuse_early_times,
    renaming_notes,
    write_columns,
)
from writeamp.traces.trace import (
    MAX_END_BYTES,
    MAX_LENGTH_BYTES,
    MAX_TIMESTAMP_NS,
    Operation,
    Trace,
)

_FORMS = {2: "file action [offset length]", 3: "timestamp file action [offset length]"}
_HEADER = re.compile(r"fio version ([0-9]+) iolog")
_GAP = r"[ \t]+"
_EXTENT = rf"(?:{_GAP}([0-9]+)(?:{_GAP}([0-9]+))?)?[ \t\r]*$"
_ROWS = {
    2: rf"^[ \t]*()(\S+){_GAP}(\S+){_EXTENT}",
    3: rf"^[ \t]*([0-9]+){_GAP}(\S+){_GAP}(\S+){_EXTENT}",
}
_FIELDS = ["timestamp", "file", "action", "offset", "length"]

_OPERATION_OF_ACTION = {
    "read": "read",
    "write": "write",
    "trim": "trim",
    "sync": "flush",
    "datasync": "flush",
}
_OF_FILES = ("add", "open", "close")
_ACTION_OF_OPERATION = {"read": "read", "write": "write", "trim": "trim", "flush": "sync"}
_NS_PER_US = 1000
_LAST_US = MAX_TIMESTAMP_NS // _NS_PER_US
_LAST_OFFSET = MAX_END_BYTES - MAX_LENGTH_BYTES
_HAS_EXTENT = pl.col("action").is_in(["read", "write", "trim"])


def read(path: Path, options: ReadOptions) -> Trace:
    """Read an iolog.

    Raises:
        WriteampError: its version is not 2 or 3, or a row is not valid.
    """
    devices = DeviceCodes("_")
    tables: list[pl.DataFrame] = []
    version = clock_us = of_files = 0
    for whole in read_blocks(path):
        block = whole
        if not version:
            version, block = _after_header(block)
        rows = _rows(block, version, clock_us)
        if rows.is_empty():
            continue
        clock_us = int(rows["time_us"][-1])
        requests = rows.filter(pl.col("action").is_in(list(_OPERATION_OF_ACTION)))
        of_files += rows.filter(pl.col("action").is_in(_OF_FILES)).height
        tables.append(_requests(requests, devices))
    clock = (
        "times are microseconds"
        if version == 3
        else "times are sums of fio's waits, in microseconds"
    )
    units = f"version {version}: {clock}; offsets and lengths are bytes; syncs are flushes"
    notes: list[str] = [Detail(units)]
    if of_files:
        notes.append(f"{of_files} rows add, open or close a file; they do not count as requests")
    return assemble(path, "iolog", tables, devices, notes)


def write(trace: Trace, file: BinaryIO) -> list[str]:
    """Write version 3; its first rows add and open the files, and times are cut to 1 us."""
    refuse_early_times(trace, "iolog")
    labels = _labels(trace)
    file.write(b"fio version 3 iolog\n")
    for action in ("add", "open"):
        file.write("".join(f"0 {label} {action}\n" for label in labels).encode())
    columns = [
        pl.col("timestamp_ns") // _NS_PER_US,
        DEVICE,
        pl.col("op").cast(pl.String).replace_strict(_ACTION_OF_OPERATION),
        pl.col("offset"),
        pl.col("length"),
    ]
    write_columns(trace.requests, columns, " ", file, labels=labels)
    return [*renaming_notes(trace, labels), *cut_times_notes(trace, _NS_PER_US, "1 us", "iolog")]


def _labels(trace: Trace) -> list[str]:
    fits = all(re.fullmatch(r"\S{1,255}", name) for name in trace.devices)
    return list(trace.devices) if fits else [f"file{i}" for i in range(len(trace.devices))]


def _after_header(block: TextBlock) -> tuple[int, TextBlock]:
    """Return the version in the first line, and the block with that line empty."""
    first, newline, rest = block.text.partition(b"\n")
    match = _HEADER.fullmatch(first.decode().strip())
    if not match or int(match[1][:9]) not in _FORMS:
        raise block.fault(
            block.first_line,
            f"the line is {quoted(first.decode().strip())}, valid are fio version 2 iolog and fio "
            "version 3 iolog",
        )
    return int(match[1]), TextBlock(block.path, block.first_line, newline + rest)


def _rows(block: TextBlock, version: int, clock_us: int) -> pl.DataFrame:
    """Return the fields of the rows, with `time_us` and the `number` of the line."""
    groups = pl.col("line").str.extract_groups(_ROWS[version]).struct.rename_fields(_FIELDS)
    rows = (
        read_lines(block.text)
        .with_columns(number=pl.int_range(pl.len()) + block.first_line)
        .filter(pl.col("line").str.contains(r"\S"))
        .with_columns(groups.alias("fields"))
        .unnest("fields")
        .with_columns(
            first=pl.col("offset").cast(pl.UInt64, strict=False),
            count=pl.col("length").cast(pl.UInt64, strict=False),
        )
    )
    if version == 3:
        time_us = pl.col("timestamp").cast(pl.Int128, strict=False)
    else:
        waited = pl.when(pl.col("action") == "wait").then(pl.col("first")).otherwise(0)
        time_us = waited.cast(pl.Int128).fill_null(0).cum_sum() + clock_us
    rows = rows.with_columns(time_us=time_us)
    _refuse_faults(block, rows, version)
    return rows


def _refuse_faults(block: TextBlock, rows: pl.DataFrame, version: int) -> None:
    actions = [*_OPERATION_OF_ACTION, *_OF_FILES, *(["wait"] if version == 2 else [])]
    needs_first = _HAS_EXTENT | (pl.col("action") == "wait")
    checks = (
        RowCheck(
            pl.col("action").is_not_null(),
            f"the row is {{line}}, valid is {_FORMS[version]}",
        ),
        RowCheck(
            pl.col("action").is_in(actions),
            f"action is {{action}}, valid in version {version} are {', '.join(actions)}",
        ),
        RowCheck(
            ~needs_first | (pl.col("first") <= _LAST_OFFSET).fill_null(False),
            f"offset is {{offset}}, valid are 0 to {_LAST_OFFSET} bytes (8 EiB)",
        ),
        RowCheck(
            ~_HAS_EXTENT | (pl.col("count") <= MAX_LENGTH_BYTES).fill_null(False),
            f"length is {{length}}, a request has at most {MAX_LENGTH_BYTES} bytes",
        ),
        RowCheck(
            (pl.col("time_us") <= _LAST_US).fill_null(False),
            f"the time is out of range, valid are 0 to {_LAST_US} us",
        ),
    )
    failure = first_failure(rows, checks)
    if failure:
        row, sentence = failure
        fields = rows.row(row, named=True)
        is_last = fields["number"] == block.first_line + block.text.count(b"\n")
        values = {
            name: "missing" if value is None else quoted(value) for name, value in fields.items()
        }
        cut = " (the file ends within it)" if is_last else ""
        raise block.fault(fields["number"], sentence.format(**values) + cut)


def _requests(rows: pl.DataFrame, devices: DeviceCodes) -> pl.DataFrame:
    op = pl.col("action").replace_strict(_OPERATION_OF_ACTION).cast(Operation)
    extent = {"offset": pl.col("first"), "length": pl.col("count").cast(pl.UInt32)}
    return rows.select(
        timestamp_ns=(pl.col("time_us") * _NS_PER_US).cast(pl.Int64),
        device=devices.encode(rows, ["file"]),
        op=op,
        **{name: pl.when(_HAS_EXTENT).then(value).otherwise(0) for name, value in extent.items()},
    )


def _looks_like_iolog(head: Head) -> bool:
    return bool(head.lines) and _HEADER.fullmatch(head.lines[0]) is not None


FORMAT = Format(
    name="iolog",
    summary="iologs of fio, versions 2 and 3, one device per file",
    columns=_FORMS[3],
    units="time in microseconds (in version 2 the sum of its waits); offset and length in bytes; "
    "sync and datasync are flushes",
    detection="begins with fio version … iolog",
    matches=_looks_like_iolog,
    reader=read,
    writer=write,
)
