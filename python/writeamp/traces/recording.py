"""Conversion of the virtual drive's raw recording, of any length, to a trace."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl
from polars.io.plugins import register_io_source

from writeamp.errors import WriteampError
from writeamp.files import output
from writeamp.traces.formats.parquet import metadata_of
from writeamp.traces.trace import FUA, ORIGINS, SCHEMA

# A request as written by crates/vssd (src/record.rs), little-endian.
ROW = np.dtype(
    [
        ("at_ns", "<u8"),
        ("offset", "<u8"),
        ("length", "<u4"),
        ("op", "u1"),
        ("flags", "u1"),
        ("zero", "<u2"),
        ("sequence", "<u4"),
        ("crc32", "<u4"),
    ]
)
_OPS = {0: "write", 1: "trim", 2: "read", 3: "flush"}
_FLUSH = 3
_FUA_FLAG = 1
_CHECKED_BYTES = ROW.itemsize - 4

# Columns of recordings. Other traces lack the last one: whether a request had to be durable before
# its answer (force unit access).
_COLUMNS = SCHEMA | {FUA: pl.Boolean()}
# Columns of the origins of requests, with names as text.
ORIGINS_AS_TEXT = {
    name: pl.String() if isinstance(kind, pl.Categorical) else kind
    for name, kind in ORIGINS.items()
}

# Number of rows that are in memory at once.
_CHUNK_ROWS = 1 << 20


@dataclass(frozen=True)
class _RawRows:
    """Rows of a recording, which are read from its file when needed."""

    raw: Path
    count: int

    def chunk(self, first: int) -> npt.NDArray[np.void]:
        """Return a chunk of rows.

        The file is not mapped into memory: if it were truncated meanwhile, the process would end.

        Raises:
            WriteampError: the file has fewer rows by now, or cannot be read.
        """
        count = min(_CHUNK_ROWS, self.count - first)
        try:
            rows = np.fromfile(self.raw, ROW, count, offset=first * ROW.itemsize)
        except OSError as error:
            raise WriteampError(f"{self.raw}: cannot be read ({error.strerror})") from None
        if rows.size < count:
            raise WriteampError(
                f"{self.raw}: was cut while it was read, after row {first + rows.size}"
            )
        return rows


def write_parquet(
    raw: Path,
    target: Path,
    metadata: Mapping[str, str],
    attributed: Callable[[pl.DataFrame], pl.DataFrame] | None = None,
) -> int:
    """Write a raw recording as a trace, with requests in the order in which they were served.

    Requests of several connections may have time stamps in another order. A time that is earlier
    than the time of the previous request is replaced by that time, so that sorting keeps the order.
    An incomplete last row is left out.

    Args:
        raw: the recording of the virtual drive.
        target: the Parquet file to make or replace.
        metadata: texts by key for the file's metadata.
        attributed: called with all requests in order, in parts; returns them with the columns
            `ORIGINS_AS_TEXT`, perhaps as more rows. None for no origins.

    Returns:
        The number of requests.

    Raises:
        WriteampError: `raw` cannot be read or is not a recording, or `target` cannot be written.
    """
    rows = _rows(raw)
    schema, frames = _COLUMNS, _frames(rows)
    if attributed is not None:
        schema, frames = _COLUMNS | ORIGINS_AS_TEXT, map(attributed, frames)
    source = register_io_source(lambda *_: frames, schema=schema)
    with output.replacing(target, "trace", inputs=[raw]) as file:
        source.sink_parquet(
            file,
            compression="zstd",
            row_group_size=_CHUNK_ROWS,
            metadata=metadata_of(["vssd"]) | dict(metadata),
        )
    return rows.count


def _rows(raw: Path) -> _RawRows:
    """Return the complete rows of a recording.

    Raises:
        WriteampError: the file cannot be read, or is not a recording.
    """
    try:
        rows = _RawRows(raw, raw.stat().st_size // ROW.itemsize)
    except OSError as error:
        raise WriteampError(f"{raw}: cannot be read ({error.strerror})") from None
    if rows.count and not _is_sound(rows.chunk(rows.count - 1)[0]):
        rows = replace(rows, count=rows.count - 1)
        if rows.count and not _is_sound(rows.chunk(rows.count - 1)[0]):
            raise WriteampError(f"{raw}: not a recording: row {rows.count} has a wrong checksum")
    for first in range(0, rows.count, _CHUNK_ROWS):
        ops = rows.chunk(first)["op"]
        if int(ops.max()) not in _OPS:
            row = first + int(np.argmax(ops > max(_OPS))) + 1
            raise WriteampError(f"{raw}: row {row} has op {ops.max()}, valid are 0 to {max(_OPS)}")
    return rows


def _is_sound(row: np.void) -> bool:
    return zlib.crc32(row.tobytes()[:_CHECKED_BYTES]) == int(row["crc32"])


def _frames(rows: _RawRows) -> Iterator[pl.DataFrame]:
    latest_ns = np.uint64(0)
    for first in range(0, rows.count, _CHUNK_ROWS):
        chunk = rows.chunk(first)
        at_ns = np.maximum(np.maximum.accumulate(chunk["at_ns"]), latest_ns)
        latest_ns = at_ns[-1]
        ops = chunk["op"].copy()
        is_flush = ops == _FLUSH
        yield pl.DataFrame(
            {
                "timestamp_ns": at_ns.astype(np.int64),
                "device": np.zeros(len(chunk), np.uint32),
                "op": pl.Series(ops).replace_strict(_OPS, return_dtype=SCHEMA["op"]),
                "offset": np.where(is_flush, 0, chunk["offset"]),
                "length": np.where(is_flush, 0, chunk["length"]),
                FUA: (chunk["flags"] & _FUA_FLAG).astype(bool),
            },
            schema=_COLUMNS,
        )
