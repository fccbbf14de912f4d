"""Session of a virtual drive: it is served to a command or until Ctrl-C, and counted."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

from writeamp.errors import WriteampError
from writeamp.vssd.command import run_command
from writeamp.vssd.drive import Drive, start_drive
from writeamp.vssd.layers import Application
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
