"""Sink: writes rows into a dataset as they arrive, and combines rows that arrive quickly.

Only the calling process writes; workers receive points and return outcomes.
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

# Seconds between two writes. If the process is killed, at most this much work is lost. Points that
# take longer are written one by one.
_WRITE_EVERY_S = 0.1
# Merge this many small files while the study runs; the remaining ones are merged at its end.
_MERGE_PARTS = 256


class Sink:
    """Writer that adds rows to a dataset; as a context manager, it writes all rows on exit."""

    def __init__(self, dataset: Dataset) -> None:
        """Set the dataset; rows must have its schema."""
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
        """Map from the key of each added row to whether its run failed."""
        with self._lock:
            return self._written | _failures(self._waiting)

    def __enter__(self) -> Self:
        """Lock the dataset for writing."""
        self._writing.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Write the waiting rows; if the block raised no exception, also merge small files."""
        try:
            with self._lock:
                if self._timer is not None:
                    self._timer.cancel()
                # Skip the write if a disk error ended the study, because the error would be raised
                # again. After other errors, such as Ctrl-C, write the waiting rows. The user relies
                # on finished runs being stored.
                if self._error is None or not isinstance(error, Exception):
                    self._write()
        finally:
            self._writing.__exit__(kind, error, trace)
        if error is None:
            self._dataset.tidy()

    def add(self, row: Mapping[str, Any]) -> None:
        """Add a row; it is written at once, or after at most 0.1 s together with other rows.

        Raises:
            WriteampError: the disk is full or cannot be written.
        """
        with self._lock:
            self._waiting.append(row)
            if time.monotonic() - self._written_at >= _WRITE_EVERY_S:
                self._write()
            elif self._timer is None:
                # The next row may arrive much later, so a timer writes this one.
                self._timer = Timer(_WRITE_EVERY_S, self._write_in_time)
                self._timer.daemon = True
                self._timer.start()

    def _write_in_time(self) -> None:
        with self._lock:
            self._timer = None
            with suppress(WriteampError):  # the next call of `add` raises it
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
            # If Ctrl-C arrives before this line, the rows are written twice, which is harmless.
            self._written |= _failures(self._waiting)
            self._waiting.clear()
        if len(self._parts) >= _MERGE_PARTS:
            self._dataset.merge(self._parts)
            self._parts.clear()
        self._written_at = time.monotonic()


def _failures(rows: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str], bool]:
    return {(row["hash"], row["version"]): row["error"] is not None for row in rows}
