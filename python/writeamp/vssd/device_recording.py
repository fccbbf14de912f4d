"""Recording of the block device of a mounted drive, for the origins of the drive's requests."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from writeamp.errors import WriteampError
from writeamp.recorder.disk import disk_of, mount_of
from writeamp.recorder.recording import BlockRecording
from writeamp.text import Caution
from writeamp.units.byte_sizes import shown_bytes
from writeamp.vssd.control import Control
from writeamp.vssd.mount import Mounted
from writeamp.vssd.request_origins import RequestOrigins
from writeamp.vssd.specification import Specification

# Share of the written bytes that are not of their row's file above which a remark states it.
_REMARKED_SHARE = 0.005


class DeviceRecording:
    """Recording of the block device of a mounted drive."""

    def __init__(
        self,
        specification: Specification,
        mounted: Mounted,
        control: Control,
        target: Path,
        *,
        check: Callable[[], None],
        undo: ExitStack,
    ) -> None:
        """Record until `undo` closes.

        Args:
            specification: the drive.
            mounted: its file system.
            control: its control socket.
            target: path beside which the recording has its parts.
            check: called while files are read; may raise to stop that.
            undo: receives the undo steps.

        Raises:
            WriteampError: the kernel's events or the file system cannot be read.
            OSError: the same.
        """
        settings = specification.settings
        self._time_scale = (settings.time_scale or 1.0) if settings.is_timed else 1.0
        # The replay of a timed drive repeats each request at its time.
        self._page_bytes = None if settings.is_timed else specification.device.page_bytes
        self._error: BaseException | None = None
        disk = disk_of(mounted.loop)
        with ExitStack() as own_undo:
            self._recording = BlockRecording(
                disk,
                mount_of(str(mounted.point), disk),
                target,
                own_undo,
                check=check,
                # A program that uses the drive as a `VirtualSsd` may write to it itself.
                leaves_out_own=False,
            )
            self._recording.start()
            own_undo.callback(self._stop)
            self._zero_ns = self._time_of_zero_ns(control) - self._recording.began_ns
            undo.enter_context(own_undo.pop_all())

    def origins(self, first_counted: int) -> RequestOrigins | None:
        """Return the origins after the end, or None if the recording failed.

        Args:
            first_counted: number of requests of the drive before counting began.
        """
        if self._error is not None:
            return None
        return RequestOrigins(
            self._recording.parts.frames(),
            zero_ns=self._zero_ns,
            time_scale=self._time_scale,
            page_bytes=self._page_bytes,
            first_counted=first_counted,
        )

    def remarks(self, trace: str, origins: RequestOrigins | None) -> list[str]:
        """Return sentences about origins that are missing or may be wrong in a trace."""
        if origins is None:
            return [without_origins(trace, self._error)]
        files, lost = self._recording.files, self._recording.lost
        sentences = [] if files is None else [*files.remarks]
        if lost:
            sentences.append(
                Caution(
                    f"{lost:,} events of the kernel were lost, so requests in {trace} may have a "
                    "wrong process or file"
                )
            )
        if origins.shared_bytes > _REMARKED_SHARE * origins.written_bytes:
            what = "request of a timed drive" if self._page_bytes is None else "page"
            share = origins.shared_bytes / origins.written_bytes
            sentences.append(
                Caution(
                    f"{share:.1%} of the written bytes in {trace} "
                    f"({shown_bytes(origins.shared_bytes)}) are of other files than their rows "
                    f"state, because each {what} has one file"
                )
            )
        return sentences

    def discard(self) -> None:
        """Remove the parts of the recording."""
        self._recording.parts.remove()

    def _time_of_zero_ns(self, control: Control) -> int:
        """Return the time of `time.monotonic_ns` at which the drive's time was 0.

        It is late by at most the duration of one question. Early, it would give requests the
        origin of the previous request to the same place.
        """
        counters = control.counters()
        now_ns = time.monotonic_ns()
        timed = counters["timed"]
        drive_ns = int(counters["elapsed_ns"] if timed is None else timed["time_ns"])
        return now_ns - round(drive_ns * self._time_scale)

    def _stop(self) -> None:
        try:
            self._recording.stop()
        except (WriteampError, OSError) as error:
            # Without the place of the parts, which are removed.
            self._error = self._recording.error or error


def without_origins(trace: str, reason: object) -> str:
    """Return the sentence that a trace has no processes and files."""
    return Caution(f"the requests in {trace} have no process and no file: {reason}")
