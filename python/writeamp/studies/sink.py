"""Sink: writes outcomes into a dataset as they come, several fast ones at a time.

Only the process that asks writes; workers are given points and return outcomes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from threading import Lock, Timer
from types import TracebackType
from typing import Generic, Protocol, Self, TypeVar

import polars as pl

from writeamp.errors import WriteampError
from writeamp.studies.dataset import Dataset

# The work of so long may be lost where a process is killed. Slower points are written one by one.
_WRITE_EVERY_S = 0.1
# So many small files are put into one while the sweep goes on; the rest when it ends.
_MERGE_PARTS = 256


class Outcome(Protocol):
    """Outcome of one part of a study."""

    @property
    def key(self) -> tuple[str, str]:
        """Name of its result."""

    @property
    def error(self) -> str | None:
        """Reason why the part has no result; None if it has one."""


_O = TypeVar("_O", bound=Outcome)


class Sink(Generic[_O]):
    """Adds outcomes to a dataset; to be used as a context, at whose end all are written.

    `kept` has the key of each that is on the disk, and whether it failed.
    """

    def __init__(self, dataset: Dataset, table_of: Callable[[Sequence[_O]], pl.DataFrame]) -> None:
        """Write to a dataset the rows that `table_of` makes of outcomes."""
        self.kept: dict[tuple[str, str], bool] = {}
        self._dataset = dataset
        self._table_of = table_of
        self._writing: AbstractContextManager[None] = dataset.writing()
        self._waiting: list[_O] = []
        self._parts: list[Path] = []
        self._written_at = time.monotonic()
        self._lock = Lock()
        self._timer: Timer | None = None
        self._error: WriteampError | None = None

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
        """Write the outcomes that wait, and merge small files."""
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

    def add(self, outcome: _O) -> None:
        """Keep an outcome; it is on the disk at once, or with those of the next instant.

        Raises:
            WriteampError: the disk is full, or cannot be written.
        """
        with self._lock:
            self._waiting.append(outcome)
            if time.monotonic() - self._written_at >= _WRITE_EVERY_S:
                self._write()
            elif self._timer is None:
                # The next outcome may come in an hour.
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
                self._parts.append(self._dataset.append(self._table_of(self._waiting)))
            except WriteampError as error:
                self._error = error
                raise
            # Ctrl-C before this line only has them written, and counted, once more.
            self.kept |= {one.key: one.error is not None for one in self._waiting}
            self._waiting.clear()
        if len(self._parts) >= _MERGE_PARTS:
            self._dataset.merge(self._parts)
            self._parts.clear()
        self._written_at = time.monotonic()
