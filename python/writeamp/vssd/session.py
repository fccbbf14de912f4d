"""Counted sessions of a virtual drive: a command, a wait for Ctrl-C, or replayed requests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import numpy as np

from writeamp.errors import WriteampError
from writeamp.machine.command import run_command
from writeamp.machine.signals import HeldSignals, held_signals
from writeamp.runners import Progress
from writeamp.system import require_linux
from writeamp.traces.pages import PageTrace
from writeamp.vssd.drive import Drive, start_drive
from writeamp.vssd.layers import Application
from writeamp.vssd.nbd_client import MOST_BYTES, NbdClient, NbdCommand, NbdRequest
from writeamp.vssd.result import ServeResult
from writeamp.vssd.specification import Specification

# Timeout of a wait that normally ends by an event, in seconds.
_FOREVER_S = 3600.0


def serve(
    specification: Specification,
    *,
    run: str | None,
    stdout: int | None = None,
    started: Callable[[Drive], None] = lambda _: None,
    tick: Callable[[], None] = lambda: None,
) -> ServeResult:
    """Serve a drive while a command runs, or without one until a signal is received.

    The command's data is written back to the drive, then the counts are taken, and only then the
    file system is unmounted, so that unmounting is not counted. Errors after the counts are added
    to the remarks of the result.

    Args:
        specification: the drive.
        run: command for /bin/sh; None to wait for a signal.
        stdout: file descriptor for the command's output.
        started: called when the drive serves.
        tick: called periodically while the drive is aged.

    Raises:
        WriteampError: the drive could not be built, or ended early.
        KeyboardInterrupt: a signal was received before the drive served; all is undone.
    """
    result, failures = None, []
    with held_signals() as signals:
        try:
            with ExitStack() as undo:
                drive = start_drive(specification, signals, undo, tick)
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
        # Signals during the shutdown only request what already happens, so they are dropped.
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


# NBD command of each request type of a page trace, whose types 0 to 3 are in this order.
_COMMANDS = (NbdCommand.WRITE, NbdCommand.TRIM, NbdCommand.READ, NbdCommand.FLUSH)
# Number of requests that are converted from columns to tuples at once.
_CHUNK = 1 << 16


def replay(
    specification: Specification,
    requests: PageTrace,
    progress: Progress | None = None,
) -> ServeResult:
    """Serve a drive, send it requests in order at full speed, and return the counts.

    Reads are not sent, as they do not change the drive.

    Args:
        specification: the drive; it is aged first.
        requests: requests of the host, in pages of the drive.
        progress: called with the number of answered requests and the total.

    Raises:
        WriteampError: not Linux, nbdkit is missing, or the drive failed.
        KeyboardInterrupt: a signal was received; all is undone.
    """
    require_linux("the virtual SSD")
    with held_signals() as signals, ExitStack() as undo:
        drive = start_drive(specification, signals, undo, signals.check)
        total = int((requests.op != _COMMANDS.index(NbdCommand.READ)).sum())
        with NbdClient(drive.server.socket) as client:
            for done in client.send(_as_sent(requests)):
                signals.check()
                if progress:
                    progress(min(done, total), total)
        return drive.result()


def _as_sent(requests: PageTrace) -> Iterator[NbdRequest]:
    """Yield the requests in bytes, with long requests split."""
    size = requests.page_bytes
    for first in range(0, requests.op.size, _CHUNK):
        chunk = slice(first, first + _CHUNK)
        offset = requests.start[chunk].astype(np.int64) * size
        length = requests.count[chunk].astype(np.int64) * size
        if requests.head_bytes is not None and requests.tail_bytes is not None:
            offset += requests.head_bytes[chunk]
            length -= requests.head_bytes[chunk].astype(np.int64) + requests.tail_bytes[chunk]
        for op, at, left in zip(
            requests.op[chunk].tolist(), offset.tolist(), length.tolist(), strict=True
        ):
            command = _COMMANDS[op]
            if command is NbdCommand.READ:
                continue
            if left <= MOST_BYTES:
                yield NbdRequest(command, at, left)
                continue
            for start in range(at, at + left, MOST_BYTES):
                yield NbdRequest(command, start, min(MOST_BYTES, at + left - start))
