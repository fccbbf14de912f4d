"""Runners of this process: the calling thread, or several threads."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import islice
from threading import Event
from typing import TYPE_CHECKING

from writeamp.runners.processor_share import processors, useful_threads, using_processors
from writeamp.runners.runner import J, Lost, Runner, T
from writeamp.runners.settings import ThreadSettings
from writeamp.runners.stopping import heeding, stop_if_asked

if TYPE_CHECKING:
    from concurrent.futures import Future


class Here:
    """Runs jobs in order, one at a time, on the calling thread."""

    def at_once(self, jobs: int) -> int:
        """Return how many of `jobs` jobs run at the same time: always 1."""
        return 1

    def results(
        self,
        work: Callable[[J], T],
        jobs: Sequence[J],
        *,
        lost: Lost[J, T] | None = None,
        files: Collection[str] = (),
    ) -> Iterator[tuple[int, T]]:
        """Yield the index of each job with its result, in the order of the jobs."""
        for index, job in enumerate(jobs):
            yield index, work(job)


# Seconds between two checks whether the calling thread, which waits for these threads, was
# cancelled.
_POLL_S = 0.1

# Seconds to wait for cancelled threads to end, which is much longer than they should take. Threads
# that still run after that are left behind.
_PATIENCE_S = 0.5

# Number of jobs queued for each thread, so that no thread waits while the calling thread handles a
# result.
_JOBS_AHEAD = 2


class Threads:
    """Runs jobs on several threads, in parallel where the engine or NumPy computes."""

    def __init__(self, workers: int | None = None) -> None:
        """Run at most `workers` jobs at a time; by default, and at most, one per processor."""
        self._most = ThreadSettings(workers).workers

    def at_once(self, jobs: int) -> int:
        """Return how many of `jobs` jobs run at the same time."""
        return useful_threads(self._most, jobs)

    def results(
        self,
        work: Callable[[J], T],
        jobs: Sequence[J],
        *,
        lost: Lost[J, T] | None = None,
        files: Collection[str] = (),
    ) -> Iterator[tuple[int, T]]:
        """Yield the index of each job with its result, in order of completion."""
        threads = self.at_once(len(jobs))
        from concurrent.futures import (  # noqa: PLC0415 (slow; not needed for help)
            FIRST_COMPLETED,
            ThreadPoolExecutor,
            wait,
        )

        _import_arrays()
        processors_of_job = max(1, processors() // threads)
        stop = Event()

        def on_thread(job: J) -> T:
            with heeding(stop), using_processors(processors_of_job):
                return work(job)

        pool = ThreadPoolExecutor(threads)
        waiting = enumerate(jobs)
        running: dict[Future[T], int] = {}
        try:
            while True:
                for index, job in islice(waiting, _JOBS_AHEAD * threads - len(running)):
                    running[pool.submit(on_thread, job)] = index
                if not running:
                    return
                stop_if_asked()
                done, _ = wait(running, timeout=_POLL_S, return_when=FIRST_COMPLETED)
                for future in sorted(done, key=running.__getitem__):
                    yield running.pop(future), future.result()
        finally:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            wait([future for future in running if future.running()], timeout=_PATIENCE_S)


def _import_arrays() -> None:
    """Let polars import NumPy: if two threads use the first array at once, its import fails."""
    import numpy as np  # noqa: PLC0415 (slow; not needed for help)
    import polars as pl  # noqa: PLC0415

    pl.Series(np.zeros(0))


def local_runner(jobs: int, most: int | None = None) -> Runner:
    """Return a runner in this process: threads, or this thread if threads would not help.

    Args:
        jobs: number of jobs.
        most: maximum number of jobs at a time; by default, and at most, one per processor.
    """
    return Here() if useful_threads(most, jobs) == 1 else Threads(most)
