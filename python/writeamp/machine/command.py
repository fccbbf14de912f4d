"""Command that runs while a drive is served: its processes, signals, writes and end."""

from __future__ import annotations

import ctypes
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

from writeamp.machine.signals import HeldSignals

_SET_CHILD_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER of linux/prctl.h
# Field index in /proc/PID/stat after the name: the state, then the parent.
_PARENT_FIELD = 1


@dataclass(frozen=True)
class ProcessWrites:
    """Bytes that processes wrote, by the kernel's accounting in /proc/PID/io.

    `calls_bytes` were written by write() and similar calls, including to pipes; `storage_bytes`
    went to storage: they changed pages of the page cache, or bypassed it.
    """

    calls_bytes: int = 0
    storage_bytes: int = 0

    def __add__(self, other: ProcessWrites) -> ProcessWrites:
        """Return the sum of two counts."""
        return ProcessWrites(
            self.calls_bytes + other.calls_bytes, self.storage_bytes + other.storage_bytes
        )


@contextmanager
def orphans_come_here() -> Iterator[None]:
    """Adopt orphaned processes below this process, so that daemons remain its descendants."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        yield
    finally:
        libc.prctl(_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def children(parent: int) -> list[int]:
    """Return the children of a process, including ended ones."""
    return [pid for pid, its_parent in _parents().items() if its_parent == parent]


def descendants(ancestor: int) -> list[int]:
    """Return all descendants of a process, parents before their children."""
    parents = _parents()
    processes = [ancestor]
    for process in processes:
        processes += [pid for pid, parent in parents.items() if parent == process]
    return processes[1:]


def written_by(pid: int) -> ProcessWrites:
    """Return the bytes that a process and its ended and reaped children wrote.

    Returns 0 for a process that is gone, or that this user may not inspect.
    """
    try:
        lines = Path(f"/proc/{pid}/io").read_text().splitlines()
    except OSError:
        return ProcessWrites()
    counts = {name: int(value) for name, value in (line.split(": ") for line in lines)}
    return ProcessWrites(counts["wchar"], counts["write_bytes"])


def has_ended(pid: int) -> bool:
    """Return whether a child has ended, without reaping it."""
    options = os.WEXITED | os.WNOHANG | os.WNOWAIT
    with suppress(ChildProcessError):
        return os.waitid(os.P_PID, pid, options) is not None
    return True


def reap(pid: int) -> ProcessWrites:
    """Reap an ended child, and return the bytes that it wrote."""
    written = written_by(pid)
    with suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
    return written


def send(pid: int, number: signal.Signals) -> None:
    """Send a signal to a process that may be gone."""
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def _parents() -> dict[int, int]:
    """Return the parent's process number by the process number of each process."""
    parents = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            with suppress(OSError):
                # The process name in brackets may contain brackets and spaces, so the line is split
                # at the last bracket.
                fields = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
                parents[int(folder.name)] = int(fields[_PARENT_FIELD])
    return parents


# Time between two checks for ended orphans and for the drive, in seconds.
_LOOK_S = 1.0
# Time until a terminated command is killed, in seconds. It is long, as a database writes a
# checkpoint when it is terminated.
_PATIENCE_S = 30.0
_BETWEEN_LOOKS_S = 0.05
_GUARDIAN = Path(__file__).with_name("guardian.py")
# Environment variable that marks the processes of a command, including daemons without a living
# parent.
_MARK = "WRITEAMP_RUN"


@dataclass(frozen=True)
class Ended:
    """End of a command: its exit status as in a shell, its signal, and its writes.

    `signal` was sent to this process and forwarded; None if the command ended by itself.
    """

    status: int
    signal: signal.Signals | None
    written: ProcessWrites


def run_command(
    text: str,
    variables: Mapping[str, str],
    *,
    signals: HeldSignals,
    check: Callable[[], None],
    stdout: int | None = None,
) -> Ended:
    """Run a command to its end, and end its background processes.

    Args:
        text: command for /bin/sh.
        variables: added to its environment.
        signals: signals to forward to the command.
        check: called periodically; if it raises, the command is killed.
        stdout: file descriptor for the command's standard output; None for this process's own.
    """
    with ExitStack() as undo:
        undo.enter_context(orphans_come_here())
        mark = undo.enter_context(_guarded())
        tree = _ProcessTree(set(children(os.getpid())))
        undo.callback(tree.end)
        shell = subprocess.Popen(
            ["/bin/sh", "-c", text], env={**os.environ, **variables, _MARK: mark}, stdout=stdout
        )
        undo.callback(tree.abandon, shell)
        handle = os.pidfd_open(shell.pid)
        undo.callback(os.close, handle)
        sent = _SentSignals(shell.pid)
        while not has_ended(shell.pid):
            signals.wait([handle], _LOOK_S)
            check()
            tree.reap_orphans(shell.pid)
            sent.hand_on(signals)
        # Ctrl-C of the terminal may have ended the command before this process received the signal.
        sent.first = sent.first or signals.take()
        tree.written += written_by(shell.pid)
        status = shell.wait()
        tree.end()
    ended_by = sent.first or (signal.SIGINT if status == -signal.SIGINT else None)
    return Ended(128 - status if status < 0 else status, ended_by, tree.written)


@contextmanager
def _guarded() -> Iterator[str]:
    """Yield the mark of a command; the guardian ends marked processes if this process is killed."""
    mark = secrets.token_hex(8)
    # The guardian has its own session, so that it does not receive the signals of this process
    # group.
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
class _SentSignals:
    """Signals sent to a command to end it."""

    shell: int
    first: signal.Signals | None = None
    count: int = 0
    deadline: float | None = None

    def hand_on(self, signals: HeldSignals) -> None:
        """Forward one received signal, if any; a second becomes SIGTERM, a third SIGKILL.

        SIGKILL also follows if the command still runs 30 s after a signal other than Ctrl-C.
        """
        number = signals.take()
        if self.deadline is not None and time.monotonic() > self.deadline:
            self._send(signal.SIGKILL)
        if number is None:
            return
        self.first = self.first or number
        if number != signal.SIGINT and self.deadline is None:
            self.deadline = time.monotonic() + _PATIENCE_S
        if self.count:  # the command ignored the first Ctrl-C
            self._send(signal.SIGTERM if self.count == 1 else signal.SIGKILL)
        elif number != signal.SIGINT or not _has_the_terminal():
            self._send(number)
        self.count += 1

    def _send(self, number: signal.Signals) -> None:
        for pid in (self.shell, *descendants(self.shell)):
            send(pid, number)


@dataclass
class _ProcessTree:
    """Children of this process that belong to the command, and the bytes that ended ones wrote."""

    others: set[int]
    written: ProcessWrites = field(default_factory=ProcessWrites)

    def reap_orphans(self, shell: int) -> None:
        """Reap ended orphans, and count their writes."""
        for pid in self._orphans(shell):
            if has_ended(pid):
                self.written += reap(pid)

    def end(self) -> None:
        """End all remaining processes of the command: by SIGTERM, or by SIGKILL after 30 s."""
        deadline = time.monotonic() + _PATIENCE_S
        signalled: set[int] = set()
        while orphans := self._orphans():
            for pid in orphans:
                if has_ended(pid):
                    self.written += reap(pid)
                elif time.monotonic() > deadline:
                    for process in (pid, *descendants(pid)):
                        send(process, signal.SIGKILL)
                elif pid not in signalled:
                    send(pid, signal.SIGTERM)
                    signalled.add(pid)
            time.sleep(_BETWEEN_LOOKS_S)

    def abandon(self, shell: subprocess.Popen[bytes]) -> None:
        """Kill the command and its descendants, because the run cannot continue."""
        if shell.poll() is None:
            for pid in (shell.pid, *descendants(shell.pid)):
                send(pid, signal.SIGKILL)
            shell.wait()

    def _orphans(self, shell: int | None = None) -> list[int]:
        return [pid for pid in children(os.getpid()) if pid not in self.others and pid != shell]


def _has_the_terminal() -> bool:
    """Return whether the command receives Ctrl-C from the terminal, as a foreground process."""
    with suppress(OSError):
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
        try:
            return os.tcgetpgrp(terminal) == os.getpgrp()
        finally:
            os.close(terminal)
    return False
