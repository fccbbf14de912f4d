"""Command of a captive run, and its processes: told of signals, counted, and ended entirely."""

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

from writeamp.vssd.signals import HeldSignals

_SET_CHILD_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER of linux/prctl.h
# In /proc/PID/stat after the name: the state, then the parent.
_PARENT_FIELD = 1


@dataclass(frozen=True)
class ProcessWrites:
    """Bytes that processes wrote, as the kernel accounts them in /proc/PID/io.

    `calls_bytes` went through write() and its like, also to pipes; `storage_bytes` made pages dirty
    that belong to storage, or went around the page cache.
    """

    calls_bytes: int = 0
    storage_bytes: int = 0

    def __add__(self, other: ProcessWrites) -> ProcessWrites:
        """Return the sum of both."""
        return ProcessWrites(
            self.calls_bytes + other.calls_bytes, self.storage_bytes + other.storage_bytes
        )


@contextmanager
def orphans_come_here() -> Iterator[None]:
    """Make this process the parent of its descendants' orphans: daemons stay in its tree."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        yield
    finally:
        libc.prctl(_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def children(parent: int) -> list[int]:
    """Return the processes that a process is the parent of, those that have ended among them."""
    return [pid for pid, its_parent in _parents().items() if its_parent == parent]


def descendants(ancestor: int) -> list[int]:
    """Return all processes under a process, parents before their children."""
    parents = _parents()
    found = [ancestor]
    for one in found:
        found += [pid for pid, parent in parents.items() if parent == one]
    return found[1:]


def written_by(pid: int) -> ProcessWrites:
    """Return the bytes that a process wrote, with those of its reaped children.

    Nothing of one that is gone, or that this user may not look at.
    """
    try:
        lines = Path(f"/proc/{pid}/io").read_text().splitlines()
    except OSError:
        return ProcessWrites()
    found = {name: int(value) for name, value in (line.split(": ") for line in lines)}
    return ProcessWrites(found["wchar"], found["write_bytes"])


def has_ended(pid: int) -> bool:
    """Return whether a child has ended, without reaping it."""
    options = os.WEXITED | os.WNOHANG | os.WNOWAIT
    with suppress(ChildProcessError):
        return os.waitid(os.P_PID, pid, options) is not None
    return True


def reap(pid: int) -> ProcessWrites:
    """Return the bytes that an ended child wrote, and let it go."""
    written = written_by(pid)
    with suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
    return written


def send(pid: int, number: signal.Signals) -> None:
    """Send a signal to a process that may be gone."""
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def _parents() -> dict[int, int]:
    """Return the parent of each process."""
    found = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            with suppress(OSError):
                # The name in brackets may hold anything, brackets and spaces too.
                fields = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
                found[int(folder.name)] = int(fields[_PARENT_FIELD])
    return found


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
    written: ProcessWrites


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
    written: ProcessWrites = field(default_factory=ProcessWrites)

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
