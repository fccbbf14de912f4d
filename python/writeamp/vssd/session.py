"""Sessions of a virtual drive, counted: a command, a wait for Ctrl-C, or replayed requests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import numpy as np

from writeamp.errors import WriteampError
from writeamp.runners import Progress
from writeamp.traces.pages import PageTrace
from writeamp.vssd.command import run_command
from writeamp.vssd.drive import Drive, start_drive
from writeamp.vssd.layers import Application
from writeamp.vssd.nbd_client import MOST_BYTES, NbdClient, NbdCommand, NbdRequest
from writeamp.vssd.result import ServeResult
from writeamp.vssd.signals import HeldSignals, held_signals
from writeamp.vssd.specification import Specification

# Who waits looks at nothing; what happens wakes it up.
_FOREVER_S = 3600.0


def serve(
    found: Specification,
    *,
    run: str | None,
    stdout: int | None = None,
    started: Callable[[Drive], None] = lambda _: None,
    tick: Callable[[], None] = lambda: None,
) -> ServeResult:
    """Serve a drive while a command runs, or without one until a signal comes.

    What the command wrote is written back to the drive, then counted, and only then is the file
    system unmounted: what unmounting writes does not count. What goes wrong after the counts were
    taken comes to the remarks of the result.

    Args:
        found: the drive.
        run: the command, for /bin/sh; None to wait for a signal.
        stdout: file descriptor for the command's output.
        started: called when the drive serves.
        tick: called from time to time while the drive is aged.

    Raises:
        WriteampError: the drive could not be built, or ended too early.
        KeyboardInterrupt: a signal came before the drive served; all is undone.
    """
    result, failures = None, []
    with held_signals() as signals:
        try:
            with ExitStack() as undo:
                drive = start_drive(found, signals, undo, tick)
                started(drive)
                if run is None:
                    _wait(drive, signals)
                    result = drive.result()
                else:
                    result = _captive(drive, run, stdout, signals)
                drive.recorder.ends_at(result.ended)
        except WriteampError as error:
            if result is None:
                raise
            failures.append(str(error))
        # What came while all was taken down asked for nothing else.
        signals.came.clear()
        return result.with_end(drive.last_remarks, [*drive.server.failures, *failures])


def _wait(drive: Drive, signals: HeldSignals) -> None:
    while signals.take() is None:
        drive.server.check()
        signals.wait([drive.server.daemon.pidfd], _FOREVER_S)


def _captive(drive: Drive, run: str, stdout: int | None, signals: HeldSignals) -> ServeResult:
    with drive.counting_writes() as counter:
        ended = run_command(
            run, drive.variables(), signals=signals, check=drive.server.check, stdout=stdout
        )
        counted = counter if isinstance(counter, str) else counter.read()
    return drive.result(
        run=run,
        status=ended.status,
        interrupted_by=ended.signal,
        application=Application.of(counted, ended.written),
    )


# As the requests of a page trace are numbered: write, trim, read, flush.
_COMMANDS = (NbdCommand.WRITE, NbdCommand.TRIM, NbdCommand.READ, NbdCommand.FLUSH)
# Requests turned from columns into tuples at once.
_CHUNK = 1 << 16


def replay(
    found: Specification,
    requests: PageTrace,
    progress: Progress | None = None,
) -> ServeResult:
    """Serve a drive, let a host issue requests in order and as fast as it can, and count.

    Reads are left out: they change nothing on the drive.

    Args:
        found: the drive; what ages it comes before.
        requests: what the host does, in pages of the drive.
        progress: called with the requests that are answered, and all.

    Raises:
        WriteampError: nbdkit is missing, or the drive failed.
        KeyboardInterrupt: a signal came; all is undone.
    """
    with held_signals() as signals, ExitStack() as undo:
        drive = start_drive(found, signals, undo, signals.check)
        of = int((requests.op != _COMMANDS.index(NbdCommand.READ)).sum())
        with NbdClient(drive.server.socket) as client:
            for done in client.send(_as_sent(requests)):
                signals.check()
                if progress:
                    progress(min(done, of), of)
        return drive.result()


def _as_sent(requests: PageTrace) -> Iterator[NbdRequest]:
    """Give the requests in bytes, long ones in parts."""
    size = requests.page_bytes
    for first in range(0, requests.op.size, _CHUNK):
        part = slice(first, first + _CHUNK)
        offset = requests.start[part].astype(np.int64) * size
        length = requests.count[part].astype(np.int64) * size
        if requests.head_bytes is not None and requests.tail_bytes is not None:
            offset += requests.head_bytes[part]
            length -= requests.head_bytes[part].astype(np.int64) + requests.tail_bytes[part]
        for op, at, left in zip(
            requests.op[part].tolist(), offset.tolist(), length.tolist(), strict=True
        ):
            command = _COMMANDS[op]
            if command is NbdCommand.READ:
                continue
            if left <= MOST_BYTES:
                yield NbdRequest(command, at, left)
                continue
            for start in range(at, at + left, MOST_BYTES):
                yield NbdRequest(command, start, min(MOST_BYTES, at + left - start))
