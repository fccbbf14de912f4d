"""Thread that reads the kernel's events and writes the parts of the trace."""

from __future__ import annotations

import os
import threading
import time
from contextlib import suppress
from pathlib import Path

from writeamp.errors import WriteampError
from writeamp.recorder.disk import Disk, number_of
from writeamp.recorder.extents import Ranges
from writeamp.recorder.fiemap import extents_of_file
from writeamp.recorder.files import FileTracker
from writeamp.recorder.parts import Parts
from writeamp.recorder.requests import RequestReader
from writeamp.recorder.rows import RowMaker
from writeamp.recorder.tracing import Tracing

# Time between two reads of the events. At 100,000 events a second, about 10,000 events wait.
_BETWEEN_READS_S = 0.1
# Names of files are read a moment after the files are made; until then, the events wait.
_SETTLED_NS = 250_000_000


class RecordingThread:
    """A running recording."""

    def __init__(
        self,
        *,
        disk: Disk,
        tracing: Tracing,
        reader: RequestReader,
        files: FileTracker | None,
        rows: RowMaker,
        parts: Parts,
    ) -> None:
        """Prepare a recording; `start` begins it."""
        self._disk = disk
        self._tracing = tracing
        self._reader = reader
        self._files = files
        self._rows = rows
        self._parts = parts
        self._is_over = threading.Event()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.events = 0
        self.lost = 0
        self.duration_s = 0.0
        self.statistics_bytes: int | None = None
        """Bytes written meanwhile by the kernel's statistics; None if the device was removed."""
        self._began_ns = 0
        self._began_bytes: int | None = None

    def start(self) -> None:
        """Begin to record."""
        self._began_bytes = self._disk.written_bytes
        self._began_ns = time.monotonic_ns()
        self._tracing.start()
        self._thread.start()

    def check(self) -> None:
        """Raise the error that ended the recording, if any.

        Raises:
            WriteampError: the parts cannot be written.
        """
        if isinstance(self._error, WriteampError):
            raise self._parts.with_place(self._error)
        if self._error is not None:
            raise self._error

    def stop(self) -> None:
        """End the recording; all events so far are in parts afterwards.

        Raises:
            WriteampError: the parts cannot be written.
        """
        self._tracing.stop()
        # Before the last part, which may be written to the same device.
        ended_bytes = self._disk.written_bytes
        if self._began_bytes is not None and ended_bytes is not None:
            self.statistics_bytes = ended_bytes - self._began_bytes
        self.duration_s = (time.monotonic_ns() - self._began_ns) / 1e9
        self._is_over.set()
        self._thread.join()
        self.check()

    @property
    def requests(self) -> int:
        """Requests so far."""
        return self._rows.counts.requests.total()

    def _run(self) -> None:
        try:
            while not self._is_over.wait(_BETWEEN_READS_S):
                self._read()
            self._read(is_last=True)
        except BaseException as error:  # raised by `check`
            self._error = error

    def _read(self, *, is_last: bool = False) -> None:
        until_ns = None if is_last else time.monotonic_ns() - _SETTLED_NS
        events = self._tracing.read(until_ns)
        self.events += sum(len(each.time_ns) for each in events.values())
        if self._files is not None:
            self._files.read(events, self._tracing.later(), until_ns)
        rows = self._rows.rows(self._reader.read(events), self._began_ns)
        # A part is synced when it is written, so its requests are among the next events.
        self._rows.own_ranges = Ranges.none()
        path = self._parts.add(rows)
        if path is not None:
            self._exclude(path)
        if is_last:
            self._parts.write()
            self.lost = self._tracing.lost()

    def _exclude(self, path: Path) -> None:
        """Exclude the next requests to the sectors of a part, if it is on the recorded disk."""
        with path.open("rb") as file, suppress(OSError):
            if number_of(os.fstat(file.fileno()).st_dev) == self._disk.number:
                self._rows.own_ranges = Ranges.of(
                    extents_of_file(file.fileno()), self._disk.first_sector
                )
