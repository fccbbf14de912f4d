"""Session of a recording: the kernel's events, the recording thread, and what ends it."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from writeamp.errors import WriteampError
from writeamp.machine.command import Ended, ProcessWrites, run_command
from writeamp.machine.programs import run
from writeamp.machine.signals import HeldSignals, held_signals
from writeamp.recorder.disk import Disk, Mount, points_of
from writeamp.recorder.recording import BlockRecording
from writeamp.recorder.result import RecordResult
from writeamp.recorder.settings import RecordSettings
from writeamp.text import Caution

# Time between two checks of the recording, in seconds.
_LOOK_S = 0.5


@dataclass(frozen=True)
class Session:
    """A recording that is about to begin."""

    disk: Disk
    mount: Mount | None
    target: Path
    settings: RecordSettings
    command: str | None
    stdout: int | None
    progress: Callable[[int, int], object] | None
    warn: Callable[[str], object] | None = None
    remarks: list[str] = field(default_factory=list)

    def run(self, *, may_replace: bool) -> RecordResult:
        """Record until the end, and write the trace.

        Raises:
            WriteampError: the kernel's events cannot be read, or the trace cannot be written.
        """
        began_processor_s = time.process_time()
        with held_signals() as signals:
            with ExitStack() as undo:
                recording = BlockRecording(
                    self.disk,
                    self.mount,
                    self.target,
                    undo,
                    check=signals.check,
                    most_bytes=self.settings.max_size,
                    is_anonymous=self.settings.anonymize,
                )
                self._start(recording, signals)
                ended = None
                try:
                    ended = self._wait(recording, signals)
                finally:
                    self._stop(recording, ended)
            recording.parts.join(may_replace=may_replace)
            # Signals during the end only request what already happens, so they are dropped.
            signals.came.clear()
        if self.disk.is_partition and recording.rows.counts.requests["flush"]:
            self.remarks.append("flushes are those of all partitions, as their events have none")
        return RecordResult(
            path=str(self.target),
            device=self.disk.name,
            counts=recording.rows.counts,
            has_files=recording.files is not None,
            duration_s=recording.duration_s,
            events=recording.events,
            lost_events=recording.lost,
            removed_requests=recording.parts.removed_rows,
            processor_s=time.process_time() - began_processor_s,
            statistics_bytes=recording.statistics_bytes,
            zeroing_requests=recording.reader.zeroing_requests,
            zeroed_bytes=recording.reader.zeroed_bytes,
            left_out=dict(+recording.reader.left_out),
            run=self.command,
            run_exit_status=ended.status if self.command is not None else None,
            interrupted_by=ended.signal,
            remarks=(*self.remarks, *(recording.files.remarks if recording.files else ())),
        )

    def _start(self, recording: BlockRecording, signals: HeldSignals) -> None:
        """Start to record, without the data that programs wrote before."""
        try:
            self._write_back("that were in memory before may be in the trace", signals)
        except KeyboardInterrupt:
            recording.parts.remove()
            raise
        recording.start()
        if self.progress is not None:
            self.progress(0, 0)

    def _wait(self, recording: BlockRecording, signals: HeldSignals) -> Ended:
        """Wait for the end of the command, for the time, or for a signal."""

        def show() -> None:
            if self.progress is not None:
                self.progress(recording.requests, 0)

        failures: list[WriteampError] = []

        def show_and_warn() -> None:
            show()
            try:
                recording.check()
            except WriteampError as error:
                if self.warn is not None and not failures:
                    self.warn(f"{error}. The command continues, but is no longer recorded")
                failures.append(error)

        if self.command is not None:
            # If the recording fails, the command is not ended: its work may be more important.
            ended = run_command(
                self.command, {}, signals=signals, check=show_and_warn, stdout=self.stdout
            )
        else:
            end_s = time.monotonic() + (self.settings.duration_s or float("inf"))
            while signals.take() is None and (left_s := end_s - time.monotonic()) > 0:
                recording.check()
                show()
                signals.wait([], min(left_s, _LOOK_S))
            ended = Ended(0, None, ProcessWrites())
        self._write_back("that are in memory may not be in the trace", None)
        return ended

    def _stop(self, recording: BlockRecording, ended: Ended | None) -> None:
        try:
            recording.stop()
        except WriteampError as error:
            if self.command is None or ended is None:
                raise
            raise WriteampError(f"{error}; the command ended with status {ended.status}") from None

    def _write_back(self, otherwise: str, signals: HeldSignals | None) -> None:
        """Have the kernel write the data that are in memory only.

        Args:
            otherwise: what may be true of the data of a file system that cannot be synced.
            signals: signals that end it; None if it must not be interrupted.

        Raises:
            KeyboardInterrupt: a signal was received.
        """
        for point in points_of(self.disk):
            # A process of its own, as the requests of this process are left out.
            try:
                run(signals, "sync", "--file-system", point)
            except WriteampError as error:
                self.remarks.append(Caution(f"data of {point} {otherwise}: {error}"))
