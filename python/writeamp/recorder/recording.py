"""Thread that reads the kernel's events and writes the parts of the trace."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path

from writeamp.errors import WriteampError
from writeamp.recorder.disk import Disk, Mount, number_of
from writeamp.recorder.extents import Ranges
from writeamp.recorder.fiemap import extents_of_file
from writeamp.recorder.files import FileTracker
from writeamp.recorder.parts import Parts
from writeamp.recorder.requests import RequestReader
from writeamp.recorder.rows import RowMaker
from writeamp.recorder.tracing import tracing

# Time between two reads of the events. At 100,000 events a second, about 10,000 events wait.
_BETWEEN_READS_S = 0.1
# Names of files are read a moment after the files are made; until then, the events wait.
_SETTLED_NS = 250_000_000


class BlockRecording:
    """Recording of a block device by a thread.

    Attributes:
        reader, rows, parts: of the requests, the rows of the trace, and its parts.
        files: files of the requests; None if they are not recorded.
        error: error that ended the recording, or None.
        began_ns: time of `time.monotonic_ns` that is 0 in the trace.
        events, lost: events of the kernel so far; at the end, how many were lost.
        duration_s: duration of the recording in seconds, after the end.
        statistics_bytes: bytes written meanwhile by the kernel's statistics, after the end; None if
            the device was removed.
    """

    def __init__(
        self,
        disk: Disk,
        mount: Mount | None,
        target: Path,
        undo: ExitStack,
        *,
        check: Callable[[], None],
        most_bytes: int | None = None,
        is_anonymous: bool = False,
        leaves_out_own: bool = True,
    ) -> None:
        """Prepare a recording, until `undo` closes; `start` begins it.

        Args:
            disk: the device.
            mount: its file system, whose files are recorded; None for no files.
            target: the trace, whose parts are in a folder beside it.
            undo: receives the undo steps.
            check: called while files are read; may raise to stop that.
            most_bytes: size of the parts above which the oldest is removed.
            is_anonymous: whether names are replaced by hashes.
            leaves_out_own: whether requests of this process are left out.

        Raises:
            WriteampError: the kernel's events or the file system cannot be read, or the folder of
                the parts cannot be made.
        """
        self._disk = disk
        self.reader = RequestReader(disk)
        self.files = None if mount is None else FileTracker(disk, mount, undo)
        of_files = [] if self.files is None else self.files.tracepoints()
        self._tracing = undo.enter_context(tracing([*self.reader.tracepoints(), *of_files]))
        if self.files is not None:
            # Allocations of meanwhile are recorded, as the walk may miss them.
            self._tracing.start(of_files)
            self.files.walk(check)
            self.files.watch_writers(self._tracing.events, undo)
        self.rows = RowMaker(
            disk.first_sector, self.files, is_anonymous=is_anonymous, leaves_out_own=leaves_out_own
        )
        self.parts = Parts(target, disk.name, self.rows.columns, most_bytes)
        self._is_over = threading.Event()
        self.error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.events = 0
        self.lost = 0
        self.duration_s = 0.0
        self.statistics_bytes: int | None = None
        self.began_ns = 0
        self._began_bytes: int | None = None

    def start(self) -> None:
        """Begin to record."""
        self._began_bytes = self._disk.written_bytes
        self.began_ns = time.monotonic_ns()
        self._tracing.start()
        self._thread.start()

    def check(self) -> None:
        """Raise the error that ended the recording, if any.

        Raises:
            WriteampError: the parts cannot be written.
        """
        if isinstance(self.error, WriteampError):
            raise self.parts.with_place(self.error)
        if self.error is not None:
            raise self.error

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
        self.duration_s = (time.monotonic_ns() - self.began_ns) / 1e9
        self._is_over.set()
        self._thread.join()
        self.check()

    @property
    def requests(self) -> int:
        """Requests so far."""
        return self.rows.counts.requests.total()

    def _run(self) -> None:
        try:
            while not self._is_over.wait(_BETWEEN_READS_S):
                self._read()
            self._read(is_last=True)
        except BaseException as error:  # raised by `check`
            self.error = error

    def _read(self, *, is_last: bool = False) -> None:
        until_ns = None if is_last else time.monotonic_ns() - _SETTLED_NS
        events = self._tracing.read(until_ns)
        self.events += sum(len(each.time_ns) for each in events.values())
        if self.files is not None:
            self.files.read(events, self._tracing.later(), until_ns)
        rows = self.rows.rows(self.reader.read(events), self.began_ns)
        # A part is synced when it is written, so its requests are among the next events.
        self.rows.own_ranges = Ranges.none()
        path = self.parts.add(rows)
        if path is not None:
            self._exclude(path)
        if is_last:
            self.parts.write()
            self.lost = self._tracing.lost()

    def _exclude(self, path: Path) -> None:
        """Exclude the next requests to the sectors of a part, if it is on the recorded disk."""
        with path.open("rb") as file, suppress(OSError):
            if number_of(os.fstat(file.fileno()).st_dev) == self._disk.number:
                self.rows.own_ranges = Ranges.of(
                    extents_of_file(file.fileno()), self._disk.first_sector
                )
