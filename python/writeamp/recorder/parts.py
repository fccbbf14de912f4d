"""Parts of a trace, written while it is recorded, so that a killed recorder loses little.

Each part is a trace of its own in a folder beside the trace; at the end they become one file.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import polars as pl
from polars.io.plugins import register_io_source

from writeamp.errors import WriteampError
from writeamp.files import output
from writeamp.files.tables import read_parquet
from writeamp.system import lock_alone
from writeamp.traces.formats.parquet import metadata_of
from writeamp.traces.trace import FUA, SCHEMA

SCHEMA_OF_ROWS: dict[str, pl.DataType] = {
    **SCHEMA,
    FUA: pl.Boolean(),
    "process": pl.String(),
    "pid": pl.UInt32(),
    "file": pl.String(),
}
"""Columns of the trace; a trace without files has no column `file`."""

_SUFFIX = ".parts"
_MOST_ROWS = 1 << 17
_ROW_GROUP = 1 << 16
# Rows of a part take at most about this many bytes in the file.
_ROW_BYTES = 32
# A part is written after this share of the recording's time, within these limits in seconds.
_SHARE, _LEAST_S, _MOST_S = 0.05, 2.0, 60.0
_OLDEST_SHARE = 8


def folder_of(target: Path) -> Path:
    """Return the folder of the parts of a trace."""
    real = Path(os.path.realpath(target))
    return real.with_name(real.name + _SUFFIX)


def check_target(target: Path, *, may_replace: bool) -> None:
    """Check that a trace and its parts can be written; remove the parts of a killed recorder.

    Raises:
        WriteampError: the trace or parts of a killed recorder exist and may not be replaced,
            another recorder writes the parts, or the folder cannot be written.
    """
    output.check_target(target, "trace", may_replace=may_replace)
    folder = folder_of(target)
    if folder.exists():
        os.close(_locked(folder))
        if not may_replace:
            raise WriteampError(
                f"{folder} has the parts of a recording that was killed; each is a trace. Move "
                "them, choose another name, or remove them with --force"
            )
        shutil.rmtree(folder)


def _locked(folder: Path) -> int:
    """Open and lock a folder of parts; the lock lasts until it is closed or the process ends.

    Raises:
        WriteampError: another recorder has locked it.
    """
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        lock_alone(handle)
    except BlockingIOError:
        os.close(handle)
        raise WriteampError(
            f"{folder} has the parts of a recording that still runs; choose another name"
        ) from None
    return handle


class Parts:
    """Writer of the parts of a trace."""

    def __init__(self, target: Path, device: str, columns: list[str], most_bytes: int | None):
        """Make the folder of the parts.

        Args:
            target: the trace to write at the end.
            device: name of the device in the trace.
            columns: names of the columns.
            most_bytes: size of all parts above which the oldest are removed; None for no limit.
        """
        self._target = target
        self._device = device
        self._schema = {name: SCHEMA_OF_ROWS[name] for name in columns}
        self._most_bytes = most_bytes
        self._most_rows = _MOST_ROWS
        if most_bytes is not None:
            self._most_rows = max(1, min(_MOST_ROWS, most_bytes // _OLDEST_SHARE // _ROW_BYTES))
        self._folder = folder_of(target)
        self._files: dict[Path, int] = {}
        self._count = 0
        self._frames: list[pl.DataFrame] = []
        self._rows = 0
        self._began_s = self._written_s = time.monotonic()
        self.removed_rows = 0
        """Rows of parts that were removed to stay below the limit."""
        try:
            self._folder.mkdir()
        except OSError as error:
            raise WriteampError(f"cannot make folder {self._folder}: {error.strerror}") from None
        self._lock = _locked(self._folder)

    def add(self, rows: pl.DataFrame) -> Path | None:
        """Add rows; return the part that was written if it was due."""
        if rows.height:
            self._frames.append(rows)
            self._rows += rows.height
        now_s = time.monotonic()
        pause_s = min(max((now_s - self._began_s) * _SHARE, _LEAST_S), _MOST_S)
        is_due = self._rows and now_s - self._written_s >= pause_s
        return self.write() if is_due or self._rows >= self._most_rows else None

    def write(self) -> Path | None:
        """Write the rows that wait as a part; return its path, or None if there are none."""
        self._written_s = time.monotonic()
        if not self._rows:
            return None
        self._count += 1
        path = self._folder / f"part-{self._count:05}.parquet"
        rows = pl.concat(self._frames)
        with output.replacing(path, "part of the trace") as file:
            rows.write_parquet(file, metadata=metadata_of([self._device]))
        self._files[path] = rows.height
        self._frames, self._rows = [], 0
        self._remove_oldest()
        return path

    def join(self, *, may_replace: bool) -> None:
        """Write the trace from the parts, and remove them.

        Raises:
            WriteampError: the trace cannot be written; the parts stay.
        """
        self.write()
        frames = register_io_source(lambda *_: self.frames(), schema=self._schema)
        try:
            with output.replacing(self._target, "trace", may_replace=may_replace) as file:
                frames.sink_parquet(
                    file,
                    compression="zstd",
                    row_group_size=_ROW_GROUP,
                    metadata=metadata_of([self._device]),
                )
        except WriteampError as error:
            raise self.with_place(error) from None
        self.remove()

    def with_place(self, error: WriteampError) -> WriteampError:
        """Return an error that also states where the parts are."""
        return WriteampError(f"{error}. Its parts are in {self._folder}")

    def frames(self) -> Iterator[pl.DataFrame]:
        """Yield the rows of the parts, in order."""
        for path, count in [*self._files.items()]:
            for first in range(0, count, _ROW_GROUP):
                yield read_parquet(path, rows=(first, min(_ROW_GROUP, count - first)))

    def remove(self) -> None:
        """Remove the parts."""
        shutil.rmtree(self._folder, ignore_errors=True)
        os.close(self._lock)

    def _remove_oldest(self) -> None:
        if self._most_bytes is None:
            return
        sizes = {path: path.stat().st_size for path in self._files}
        size = sum(sizes.values())
        for path in [*self._files][:-1]:
            if size <= self._most_bytes:
                return
            size -= sizes[path]
            self.removed_rows += self._files.pop(path)
            with suppress(FileNotFoundError):
                path.unlink()
