"""Processes of threads: number and name by /proc, or by the event if they have ended."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

# Numbers of processes are reused, so that old ones are forgotten from time to time.
_MOST_THREADS = 50_000
WORKER = "kworker"


class Process(NamedTuple):
    """Number and name of a process."""

    pid: int
    name: str


class Processes:
    """Processes that queued requests, by their threads; and the threads of this process."""

    def __init__(self) -> None:
        """Begin with no process."""
        self._by_thread: dict[tuple[int, bytes], Process] = {}
        self._own: set[int] = set()

    def of(self, threads: npt.NDArray[np.int32], names: npt.NDArray[np.bytes_]) -> list[Process]:
        """Return the process of each thread.

        Args:
            threads: thread numbers, shape (n,).
            names: their names in the events, shape (n,).
        """
        if len(self._by_thread) > _MOST_THREADS:
            self._by_thread.clear()
        pairs = zip(threads.tolist(), names.tolist(), strict=True)
        return [self._by_thread.get(pair) or self._looked_up(*pair) for pair in pairs]

    def are_own(self, threads: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
        """Return for each thread whether it is of this process."""
        with suppress(OSError):
            self._own |= {int(name) for name in os.listdir("/proc/self/task")}
        return np.isin(threads, list(self._own))

    def _looked_up(self, thread: int, name: bytes) -> Process:
        process = _process_of(thread, name.decode("utf-8", "backslashreplace"))
        self._by_thread[thread, name] = process
        return process


def is_worker(names: npt.NDArray[np.bytes_]) -> npt.NDArray[np.bool_]:
    """Return for each name whether it is that of a kernel worker, which works for any process."""
    return np.char.startswith(names, WORKER.encode())


def _process_of(thread: int, name: str) -> Process:
    """Return the process of a thread; a thread that has ended counts as a process of its own."""
    # The numbers of kernel workers have no meaning, and would make one worker look like many.
    if name.startswith(f"{WORKER}/"):
        return Process(thread, WORKER)
    with suppress(OSError, ValueError, StopIteration):
        lines = Path(f"/proc/{thread}/status").read_text(errors="backslashreplace").splitlines()
        pid = int(next(line.split()[1] for line in lines if line.startswith("Tgid:")))
        if pid != thread and (process_name := name_of(pid)) is not None:
            return Process(pid, process_name)
    return Process(thread, name)


def name_of(pid: int) -> str | None:
    """Return the name of a process, or None if it has ended."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text(errors="backslashreplace").rstrip("\n")
    return None
