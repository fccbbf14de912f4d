"""Worker processes, one for each processor: each makes some hundred calls, and is replaced."""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import NamedTuple

import checks
import child
from call import Call
from checks import Ended

# So many share a process: to fork one, and to do what is done once, takes as long as many calls.
_TOGETHER = 400


class Tried(NamedTuple):
    """A call that was made: its number, how it ended, and what is wrong with that.

    `fault` is of a call among others; `is_end` says that it ended their process.
    """

    number: int
    kind: str
    is_result: bool
    elapsed_s: float
    fault: str | None
    is_end: bool = False


@dataclass
class _Worker:
    """A process, the pipe it tells through, its folder, and the numbers of calls to come."""

    pid: int
    told: Connection
    folder: Path
    numbers: range
    heard: float


class Pool:
    """Makes calls by their numbers."""

    def __init__(self, draw: Callable[[int], Call], folder: Path, end: float) -> None:
        """Make calls in folders below one, until the monotonic time `end`."""
        self._draw, self._folder, self._end = draw, folder, end
        self._workers: list[_Worker] = []

    def results(self, calls: int | None) -> Iterator[Tried]:
        """Return how calls end, the earlier numbers first but for those made at the same time."""
        folders = [self._folder / str(place) for place in range(len(os.sched_getaffinity(0)))]
        first = 0
        try:
            while True:
                used = [each.folder for each in self._workers]
                free = [each for each in folders if each not in used]
                while free and time.monotonic() < self._end:
                    last = first + _TOGETHER if calls is None else min(first + _TOGETHER, calls)
                    if first == last:
                        break
                    self._start(range(first, last), free.pop())
                    first = last
                if not self._workers:
                    return
                wait([each.told for each in self._workers], timeout=1)
                for worker in list(self._workers):
                    yield from self._heard(worker)
        finally:
            for worker in self._workers:
                self._stop(worker)

    def _start(self, numbers: range, folder: Path) -> None:
        def work(to: Connection) -> None:
            calls = ((number, partial(self._draw, number)) for number in self._until_end(numbers))
            child.batch(calls, folder, lambda ended: to.send(_tried(*ended)))

        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            pid, told = child.forked(work, out, err)
        self._workers.append(_Worker(pid, told, folder, numbers, time.monotonic()))

    def _until_end(self, numbers: range) -> Iterator[int]:
        for number in numbers:
            if time.monotonic() > self._end:
                return
            yield number

    def _heard(self, worker: _Worker) -> Iterator[Tried]:
        """Return what a worker tells; one that has ended leaves, or makes what it did not."""
        while worker.told.poll():
            try:
                tried = worker.told.recv()
            except EOFError:
                yield from self._ended(worker)
                return
            worker.heard = time.monotonic()
            worker.numbers = worker.numbers[1:]
            yield tried
        if time.monotonic() - worker.heard > child.MOST_WALL_S:
            self._stop(worker)
            yield from self._ended(worker)

    def _ended(self, worker: _Worker) -> Iterator[Tried]:
        self._workers.remove(worker)
        worker.told.close()
        with suppress(ChildProcessError):
            _, status = os.waitpid(worker.pid, 0)
            if not status:
                return
        if worker.numbers:
            number = worker.numbers[0]
            yield Tried(number, self._draw(number).kind, True, 0.0, "its process ends", True)
            if worker.numbers[1:]:
                self._start(worker.numbers[1:], worker.folder)

    def _stop(self, worker: _Worker) -> None:
        with suppress(ProcessLookupError):
            os.killpg(worker.pid, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(worker.pid, 0)


def _tried(number: int, call: Call, ended: Ended) -> Tried:
    fault = checks.fault_of(call, ended)
    return Tried(number, call.kind, ended.is_result, ended.elapsed_s, fault)
