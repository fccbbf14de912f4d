"""Command of a captive run: run by a shell, told of signals, and ended entirely.

All its daemons end with it.
"""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from writeamp.vssd.processes import (
    Written,
    children,
    descendants,
    has_ended,
    orphans_come_here,
    reap,
    send,
    written_by,
)
from writeamp.vssd.signals import HeldSignals

# Between two looks for orphans that have ended, and at whether the drive is still there.
_LOOK_S = 1.0
# What a second and a third Ctrl-C say to a command that did not obey the first.
_INSISTENCE = (signal.SIGTERM, signal.SIGKILL)
# A database that is asked to end writes a checkpoint first.
_PATIENCE_S = 30.0
_BETWEEN_LOOKS_S = 0.05
_GUARDIAN = Path(__file__).with_name("guardian.py")
# Marks the processes of a command: its daemons, too, whose parents have gone.
_MARK = "WRITEAMP_RUN"


@dataclass(frozen=True)
class Ended:
    """End of a command: its status as a shell has it, its signal, and what it wrote.

    `signal` is one that this process was sent and handed on; None if the command ended by itself.
    """

    status: int
    signal: signal.Signals | None
    written: Written


def run_command(
    text: str,
    variables: Mapping[str, str],
    *,
    signals: HeldSignals,
    check: Callable[[], None],
    stdout: int | None = None,
) -> Ended:
    """Run a command to its end, and end what it left in the background.

    Args:
        text: what /bin/sh is given.
        variables: added to its environment.
        signals: those that come are handed on to the command.
        check: called from time to time; if it raises, the command is ended.
        stdout: a file descriptor for the command's standard output; None for this process's own.
    """
    with ExitStack() as undo:
        undo.enter_context(orphans_come_here())
        mark = undo.enter_context(_guarded())
        tree = _Tree(set(children(os.getpid())))
        undo.callback(tree.end)
        shell = subprocess.Popen(
            ["/bin/sh", "-c", text], env={**os.environ, **variables, _MARK: mark}, stdout=stdout
        )
        undo.callback(tree.abandon, shell)
        handle = os.pidfd_open(shell.pid)
        undo.callback(os.close, handle)
        told = _Told(shell.pid)
        while not has_ended(shell.pid):
            signals.wait([handle], _LOOK_S)
            check()
            tree.reap_orphans(shell.pid)
            told.hand_on(signals)
        # The command may have heard the terminal's Ctrl-C and ended before this process heard it.
        told.first = told.first or signals.take()
        tree.written += written_by(shell.pid)
        status = shell.wait()
        tree.end()
    by = told.first or (signal.SIGINT if status == -signal.SIGINT else None)
    return Ended(128 - status if status < 0 else status, by, tree.written)


@contextmanager
def _guarded() -> Iterator[str]:
    """Give the mark by which a command is ended if this process is killed while the block lasts."""
    mark = secrets.token_hex(8)
    # It is a session of its own, for signals of this one are not for it.
    guardian = subprocess.Popen(
        [sys.executable, "-I", "-S", str(_GUARDIAN), f"{_MARK}={mark}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        start_new_session=True,
    )
    try:
        yield mark
    finally:
        guardian.kill()
        guardian.communicate()


@dataclass
class _Told:
    """Signals that a command was sent to make it end."""

    shell: int
    first: signal.Signals | None = None
    count: int = 0
    deadline: float | None = None

    def hand_on(self, signals: HeldSignals) -> None:
        """Hand on what came; who does not obey is told more plainly, in the end by itself."""
        number = signals.take()
        if self.deadline is not None and time.monotonic() > self.deadline:
            self._tell(signal.SIGKILL)
        if number is None:
            return
        self.first = self.first or number
        if number != signal.SIGINT and self.deadline is None:
            self.deadline = time.monotonic() + _PATIENCE_S
        if self.count:
            self._tell(_INSISTENCE[min(self.count, len(_INSISTENCE)) - 1])
        elif number != signal.SIGINT or not _has_the_terminal():
            self._tell(number)
        self.count += 1

    def _tell(self, number: signal.Signals) -> None:
        for pid in (self.shell, *descendants(self.shell)):
            send(pid, number)


@dataclass
class _Tree:
    """The children of this process that come from the command, and what those that ended wrote."""

    others: set[int]
    written: Written = field(default_factory=Written)

    def reap_orphans(self, shell: int) -> None:
        """Let orphans go that have ended, and count what they wrote."""
        for pid in self._orphans(shell):
            if has_ended(pid):
                self.written += reap(pid)

    def end(self) -> None:
        """End all that the command left running; nothing of it may use the drive any more."""
        deadline = time.monotonic() + _PATIENCE_S
        told: set[int] = set()
        while orphans := self._orphans():
            for pid in orphans:
                if has_ended(pid):
                    self.written += reap(pid)
                elif time.monotonic() > deadline:
                    for one in (pid, *descendants(pid)):
                        send(one, signal.SIGKILL)
                elif pid not in told:
                    send(pid, signal.SIGTERM)
                    told.add(pid)
            time.sleep(_BETWEEN_LOOKS_S)

    def abandon(self, shell: subprocess.Popen[bytes]) -> None:
        """End the command where the run cannot go on."""
        if shell.poll() is None:
            for pid in (shell.pid, *descendants(shell.pid)):
                send(pid, signal.SIGKILL)
            shell.wait()

    def _orphans(self, shell: int | None = None) -> list[int]:
        return [pid for pid in children(os.getpid()) if pid not in self.others and pid != shell]


def _has_the_terminal() -> bool:
    """Return whether Ctrl-C reaches the command by itself, as it does every process in front."""
    with suppress(OSError):
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
        try:
            return os.tcgetpgrp(terminal) == os.getpgrp()
        finally:
            os.close(terminal)
    return False
