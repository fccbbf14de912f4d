"""Sink: writes rows into a dataset as they come, several fast ones at a time.

Only the process that asks writes; workers are given points and return outcomes.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from threading import Lock, Timer
from types import TracebackType
from typing import Any, Self

import polars as pl

from writeamp.errors import WriteampError
from writeamp.studies.dataset import Dataset

# The work of so long may be lost where a process is killed. Slower points are written one by one.
_WRITE_EVERY_S = 0.1
# So many small files are put into one while the sweep goes on; the rest when it ends.
_MERGE_PARTS = 256


class Sink:
    """Adds rows to a dataset; to be used as a context, at whose end all are written."""

    def __init__(self, dataset: Dataset) -> None:
        """Write to a dataset; its schema is that of the rows."""
        self._dataset = dataset
        self._writing: AbstractContextManager[None] = dataset.writing()
        self._written: dict[tuple[str, str], bool] = {}
        self._waiting: list[Mapping[str, Any]] = []
        self._parts: list[Path] = []
        self._written_at = time.monotonic()
        self._lock = Lock()
        self._timer: Timer | None = None
        self._error: WriteampError | None = None

    @property
    def added(self) -> dict[tuple[str, str], bool]:
        """Key of each row that is on the disk, or will be at the end, and whether it failed."""
        with self._lock:
            return self._written | _failures(self._waiting)

    def __enter__(self) -> Self:
        """Mark the dataset as one that is written."""
        self._writing.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Write the rows that wait, and merge small files."""
        try:
            with self._lock:
                if self._timer is not None:
                    self._timer.cancel()
                # After an error of the disk that counts, and not that it comes again; after any
                # other, such as Ctrl-C, the user would take what waits for kept.
                if self._error is None or not isinstance(error, Exception):
                    self._write()
        finally:
            self._writing.__exit__(kind, error, trace)
        if error is None:
            self._dataset.tidy()

    def add(self, row: Mapping[str, Any]) -> None:
        """Keep a row; it is on the disk at once, or with those of the next instant.

        Raises:
            WriteampError: the disk is full, or cannot be written.
        """
        with self._lock:
            self._waiting.append(row)
            if time.monotonic() - self._written_at >= _WRITE_EVERY_S:
                self._write()
            elif self._timer is None:
                # The next row may come in an hour.
                self._timer = Timer(_WRITE_EVERY_S, self._write_in_time)
                self._timer.daemon = True
                self._timer.start()

    def _write_in_time(self) -> None:
        with self._lock:
            self._timer = None
            with suppress(WriteampError):  # which the next call raises
                self._write()

    def _write(self) -> None:
        if self._error is not None:
            raise self._error
        if self._waiting:
            try:
                table = pl.DataFrame(self._waiting, schema=self._dataset.contents.schema)
                self._parts.append(self._dataset.append(table))
            except WriteampError as error:
                self._error = error
                raise
            # Ctrl-C before this line only has them written, and counted, once more.
            self._written |= _failures(self._waiting)
            self._waiting.clear()
        if len(self._parts) >= _MERGE_PARTS:
            self._dataset.merge(self._parts)
            self._parts.clear()
        self._written_at = time.monotonic()


def _failures(rows: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str], bool]:
    return {(row["hash"], row["version"]): row["error"] is not None for row in rows}
