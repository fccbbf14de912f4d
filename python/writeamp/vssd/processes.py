"""Process tree of a command: found, ended, and the bytes that it wrote."""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

_SET_CHILD_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER of linux/prctl.h
# In /proc/PID/stat after the name: the state, then the parent.
_PARENT_FIELD = 1


@dataclass(frozen=True)
class Written:
    """Bytes that processes wrote, as the kernel accounts them in /proc/PID/io.

    `calls_bytes` went through write() and its like, also to pipes; `storage_bytes` made pages dirty
    that belong to storage, or went around the page cache.
    """

    calls_bytes: int = 0
    storage_bytes: int = 0

    def __add__(self, other: Written) -> Written:
        """Return the sum of both."""
        return Written(
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


def written_by(pid: int) -> Written:
    """Return the bytes that a process wrote, with those of its reaped children.

    Nothing of one that is gone, or that this user may not look at.
    """
    try:
        lines = Path(f"/proc/{pid}/io").read_text().splitlines()
    except OSError:
        return Written()
    found = {name: int(value) for name, value in (line.split(": ") for line in lines)}
    return Written(found["wchar"], found["write_bytes"])


def has_ended(pid: int) -> bool:
    """Return whether a child has ended, without reaping it."""
    options = os.WEXITED | os.WNOHANG | os.WNOWAIT
    with suppress(ChildProcessError):
        return os.waitid(os.P_PID, pid, options) is not None
    return True


def reap(pid: int) -> Written:
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
