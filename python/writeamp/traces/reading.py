"""Reading of traces from files (whole or in pieces) or data in memory, and their figures."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl

from writeamp.errors import WriteampError, unknown
from writeamp.fields.domains import POSITIVE_COUNT
from writeamp.text import quoted
from writeamp.traces.assemble import DeviceCodes, observations
from writeamp.traces.detection import detect
from writeamp.traces.format import Format, ReadOptions
from writeamp.traces.in_memory import TraceData
from writeamp.traces.in_memory_rows import ignored_columns
from writeamp.traces.plausibility import absurdities
from writeamp.traces.registry import FORMATS, find_format
from writeamp.traces.row_format import RowFormat
from writeamp.traces.source import TextBlock, file_path, read_blocks
from writeamp.traces.trace import MAX_LENGTH_BYTES, SCHEMA, Trace


def read(
    path: str | os.PathLike[str],
    format: str | None = None,
    *,
    action: str | None = None,
    origins: bool | None = None,
) -> Trace:
    """Read a trace file.

    Args:
        path: the file, or "-" for standard input; text may be compressed (gzip, zstd, xz, bzip2).
        format: name of a format in ``FORMATS``, or the meaning of a text's columns, such as
            "columns:time=1:ms,offset=3:bytes,length=4:bytes,op=5:0=read/1=write"
            (docs/traces.md); None to detect it.
        action: the event whose occurrences count as requests: Q (queued), D (issued to the drive)
            or C (completed) for blkparse and blktrace, by default Q. For ftrace also I (inserted);
            by default the first of C, D, Q and I that the file has.
        origins: whether to read also the columns `process`, `pid`, `file` and `hint` of requests,
            if the file has them. None reads them from Parquet and from stated columns only, because
            parsing text takes longer.

    Returns:
        `Trace`: `requests` (a data frame), `format`, `devices`, `warnings`, `notes`.

    Raises:
        WriteampError: the file cannot be read, its format is not certain, or a row is not valid.

    >>> import writeamp as wa
    >>> trace = wa.traces.read("examples/postgres-tpcb.parquet")
    >>> trace.format, trace.requests.columns
    ('parquet', ['timestamp_ns', 'device', 'op', 'offset', 'length'])
    """
    file = file_path(path)
    entry = format_of(file, format, action)
    trace = entry.read(file, ReadOptions(action=action, origins=origins))
    # Formats without rows begin with a magic or a header, or have the action in each line, so they
    # are not mistaken for other formats and need no check.
    absurd = absurdities(trace.requests, trace.devices) if entry.rows else []
    if not absurd:
        return trace
    doubt = f"the file may have another format than {entry.name}: {'; '.join(absurd)}"
    return replace(trace, doubts=[*trace.doubts, doubt])


def format_of(path: Path, format: str | None, action: str | None) -> Format:
    """Return the named format, or the detected one.

    Raises:
        WriteampError: the format is unknown or not certain, or does not have the action.
    """
    entry = find_format(format) if format else FORMATS[detect(path)]
    if action is None:
        return entry
    if not entry.actions:
        takers = ", ".join(name for name, other in FORMATS.items() if other.actions)
        raise WriteampError(
            f"action {quoted(action)} does not apply to the format {entry.name}, only to {takers}"
        )
    if action not in entry.actions:
        raise unknown("action", action, entry.actions)
    return entry


def of(data: Any, format: str | None = None, *, page_bytes: int = 4096) -> Trace:
    """Return data in memory as a trace.

    `simulate`, `compare`, `endurance` and `traces.to_pages` also accept these data directly. They
    then need 6 to 9 bytes per request rather than 25.

    Args:
        data: an array of integers of shape (requests,), the written pages, or (requests, 2), first
            pages and numbers of pages of writes. Or a table with the columns `offset` and
            `length` in bytes, `op` (read, write, trim or flush), and optionally `timestamp_ns`,
            `device`, `process`, `pid`, `file` and `hint`; or with `page`, and optionally `pages`
            and `op`. A table is a frame of Polars or pandas, a structured array, or an Arrow table,
            record batch or stream. Or an iterator of page numbers, or of arrays or tables; or the
            path of a file.
        format: the meaning of a table's columns if they have other names, such as
            "columns:time=ts:ms,offset=lba:sectors,length=n:sectors,op=rw:R=read/W=write"; for a
            file, as in `traces.read`.
        page_bytes: the size of a page in bytes, for data in pages; not used for data in bytes.

    Returns:
        `Trace`: `requests` (a data frame), `format`, `devices`, `warnings`, `notes`.

    Raises:
        WriteampError: the data are of another kind, a column is missing, or a value is not valid;
            the message has the first such row.

    >>> import numpy as np
    >>> import writeamp as wa
    >>> wa.traces.of(np.array([3, 1, 3])).requests["offset"].to_list()
    [12288, 4096, 12288]
    """
    if isinstance(data, Trace):
        return data
    if isinstance(data, str | os.PathLike):
        return read(data, format)
    page_bytes = POSITIVE_COUNT.check("page_bytes", page_bytes)
    source = data if isinstance(data, TraceData) else TraceData(data, format)
    tables = []
    row = 1
    device_codes = DeviceCodes("_")
    ignored: dict[str, None] = {}
    for reading, batch, devices in source.batches(origins=True):
        in_bytes = _in_bytes(batch, row, page_bytes) if reading.in_pages else batch
        tables.append(in_bytes.cast(dict(SCHEMA)))  # type: ignore[arg-type]  # a dict is invariant
        row += batch.height
        ignored |= dict.fromkeys(reading.ignored)
        device_codes = devices
    requests = pl.concat(tables, how="diagonal", rechunk=True)
    names, codes = device_codes.renumber(requests["device"])
    requests = requests.with_columns(device=codes)
    return Trace(
        requests=requests,
        format="memory" if source.columns is None else source.columns.text,
        path="the trace",
        devices=names,
        notes=[*observations(requests, len(names)), *ignored_columns(ignored)],
    )


def _in_bytes(requests: pl.DataFrame, first_row: int, page_bytes: int) -> pl.DataFrame:
    long = requests["length"] > MAX_LENGTH_BYTES // page_bytes
    if long.any():
        at = int(long.arg_true()[0])
        raise WriteampError(
            f"row {first_row + at} of the trace has {requests['length'][at]} pages; a request has "
            f"at most {MAX_LENGTH_BYTES // page_bytes} pages of {page_bytes} bytes"
        )
    return requests.with_columns(pl.col("offset", "length") * page_bytes)


def info(trace: Trace | Any) -> dict[str, Any]:
    """Return the figures of a trace, or of data that `traces.of` accepts, as JSON types.

    Counts are of requests; ``write_fraction`` is writes ÷ (reads + writes).
    ``unique_bytes_written`` and ``footprint_bytes`` are exact unions of the byte ranges that are
    written, and that are read or written; each device has an address space of its own.
    ``extent_bytes`` is the highest end offset, summed over the devices. ``duration_s`` is latest
    minus earliest time, None if ``warnings`` doubt the times. ``drive_writes`` is
    ``bytes_written`` ÷ ``unique_bytes_written``; ``drive_writes_of`` names this divisor.
    ``page_writes`` go to ``pages_written`` distinct pages of ``page_bytes``; a partly written page
    counts as a whole. ``hottest_1pct_share`` and ``hottest_10pct_share`` are the exact shares of
    the page writes that go to the most written 1% and 10% of these pages (number rounded up).
    Ratios without requests are None. If the requests have a column `process`,
    ``written_by_process`` has the ten processes with the most written bytes, and
    ``process_unknown_share`` is the share of the written bytes without a process; likewise for
    `file` and `hint`, the number of a placement handle as text.

    Returns:
        A dictionary with the keys of `writeamp trace info --json`.

    >>> import writeamp as wa
    >>> wa.traces.info(wa.traces.read("examples/postgres-tpcb.parquet"))["requests"]
    604279
    """
    trace = of(trace)
    return {
        "format": trace.format,
        **trace.facts,
        **trace.writers,
        "devices": list(trace.devices),
        "warnings": trace.warnings,
        "notes": list(trace.notes),
    }


# Requests per piece, for formats whose files are first read as a whole.
_PIECE_ROWS = 1 << 17


@dataclass(frozen=True)
class FilePosition:
    """Position in a trace file, where a piece begins or ends.

    Attributes:
        position: bytes of text before it; for a format without rows, requests before it.
        line: number of the line at the position, from 1; not used for a format without rows.
    """

    position: int = 0
    line: int = 1


@dataclass(frozen=True)
class TracePiece:
    """Requests of a part of a file; `devices` has the device names by the values of `device`."""

    requests: pl.DataFrame
    devices: list[str]
    end: FilePosition


# Function that reads a piece.
ReadPiece: TypeAlias = Callable[[], TracePiece]


def read_pieces(
    entry: Format, path: Path, options: ReadOptions, start: FilePosition | None = None
) -> Iterator[ReadPiece]:
    """Yield functions that each read one piece of a file, in the order of the file.

    If the format has no `rows`, because its requests depend on each other, the whole file is read
    before the first function is yielded.

    Args:
        entry: the format of the file.
        path: the file.
        options: how to read it.
        start: end of the previous piece; None for the beginning of the file.

    Raises:
        WriteampError: the file cannot be read; the functions raise it for rows that are not valid.
    """
    start = start or FilePosition()
    if entry.rows is None:
        trace = entry.read(path, options)
        for first in range(start.position, trace.requests.height, _PIECE_ROWS):
            requests = trace.requests.slice(first, _PIECE_ROWS)
            piece = TracePiece(requests, trace.devices, FilePosition(first + requests.height))
            yield partial(_itself, piece)
        return
    rows = entry.rows(path)
    for block in read_blocks(path, first_byte=start.position, first_line=start.line):
        yield partial(_read, rows, block)


def _itself(piece: TracePiece) -> TracePiece:
    return piece


def _read(rows: RowFormat, block: TextBlock) -> TracePiece:
    devices = DeviceCodes(rows.device_separator)
    requests = rows.requests_of(block, devices)
    end = FilePosition(block.end_byte, block.end_line)
    return TracePiece(requests, devices.names, end)
