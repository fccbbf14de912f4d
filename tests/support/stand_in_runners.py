"""Runners for tests: in reverse order, ended early, or as far away as another process."""

from __future__ import annotations

import pickle
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial

from writeamp.runners import Here, Runner, Threads
from writeamp.runners.runner import J, Lost, T


class StandInRunner(ABC):
    """A runner of this process, in which no job is lost and every file is at hand."""

    def results(
        self,
        work: Callable[[J], T],
        jobs: Sequence[J],
        *,
        lost: Lost[J, T] | None = None,
        files: Collection[str] = (),
    ) -> Iterator[tuple[int, T]]:
        """Give the result of every job."""
        return self.of(work, jobs)

    @abstractmethod
    def of(self, work: Callable[[J], T], jobs: Sequence[J]) -> Iterator[tuple[int, T]]:
        """Give the result of every job."""


class Backwards(StandInRunner):
    """A runner that begins with the last job."""

    def of(self, work: Callable[[J], T], jobs: Sequence[J]) -> Iterator[tuple[int, T]]:
        """Give the results from the last on."""
        for at in reversed(range(len(jobs))):
            yield at, work(jobs[at])


class StopsAfter(StandInRunner):
    """A runner that Ctrl-C ends after so many jobs."""

    def __init__(self, count: int) -> None:
        """Set how many."""
        self._count = count

    def of(self, work: Callable[[J], T], jobs: Sequence[J]) -> Iterator[tuple[int, T]]:
        """Give the results of the first jobs."""
        yield from Here().results(work, jobs[: self._count])
        raise KeyboardInterrupt


class EndsEarly(StandInRunner):
    """A runner that is ended as one of its jobs is running, whatever call it is in.

    `begun` counts the jobs that began.
    """

    def __init__(self, after: int, end: Callable[[], object], inner: Runner | None = None) -> None:
        """Let `end` be called in the job after so many others."""
        self.begun = 0
        self._after = after
        self._end = end
        self._inner = inner or Here()

    def of(self, work: Callable[[J], T], jobs: Sequence[J]) -> Iterator[tuple[int, T]]:
        """Give the results of the jobs before the end."""

        def until_end(job: J) -> T:
            self.begun += 1
            if self.begun > self._after:
                self._end()
            return work(job)

        yield from self._inner.results(until_end, jobs)


class AsElsewhere(StandInRunner):
    """Threads that know of work, jobs and results only what is pickled of them.

    `result_bytes` has the size of each result.
    """

    def __init__(self) -> None:
        """Begin without results."""
        self.result_bytes: list[int] = []

    def of(self, work: Callable[[J], T], jobs: Sequence[J]) -> Iterator[tuple[int, T]]:
        """Give the results, each of which was unpacked."""
        packed = [pickle.dumps(job) for job in jobs]
        for at, found in Threads().results(partial(_done, pickle.dumps(work)), packed):
            self.result_bytes.append(len(found))
            yield at, pickle.loads(found)


def _done(work: bytes, job: bytes) -> bytes:
    return pickle.dumps(pickle.loads(work)(pickle.loads(job)))
