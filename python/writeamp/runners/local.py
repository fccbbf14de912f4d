"""Runners of this process: the calling thread, or several threads."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from threading import Event

from writeamp.runners.processor_share import processors, useful_threads, using_processors
from writeamp.runners.runner import J, Lost, Runner, T
from writeamp.runners.settings import ThreadSettings
from writeamp.runners.stopping import heeding, stop_if_asked


class Here:
    """Runs one job after the other, in their order, on the calling thread."""

    def at_once(self, jobs: int) -> int:
        """Return how many of so many jobs run at the same time."""
        return 1

    def results(
        self,
        work: Callable[[J], T],
        jobs: Sequence[J],
        *,
        lost: Lost[J, T] | None = None,
        files: Collection[str] = (),
    ) -> Iterator[tuple[int, T]]:
        """Give each index with its result."""
        for at, job in enumerate(jobs):
            yield at, work(job)


# Between two looks for the wish to stop of who started the work that itself waits for threads.
_POLL_S = 0.1

# How long threads that were told to stop are waited for: much longer than they should take.
_PATIENCE_S = 0.5

# Jobs handed over for each thread, so that none waits for this one while it looks at a result.
_JOBS_AHEAD = 2


class Threads:
    """Runs several jobs at a time. They run side by side where the engine or NumPy computes."""

    def __init__(self, workers: int | None = None) -> None:
        """Run at most so many jobs at a time; by default, and at most, one for each processor."""
        self._most = ThreadSettings(workers).workers

    def at_once(self, jobs: int) -> int:
        """Return how many of so many jobs run at the same time."""
        return useful_threads(self._most, jobs)

    def results(
        self,
        work: Callable[[J], T],
        jobs: Sequence[J],
        *,
        lost: Lost[J, T] | None = None,
        files: Collection[str] = (),
    ) -> Iterator[tuple[int, T]]:
        """Give each index with its result, in the order in which they are finished."""
        threads = self.at_once(len(jobs))
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
                for at, job in islice(waiting, _JOBS_AHEAD * threads - len(running)):
                    running[pool.submit(on_thread, job)] = at
                if not running:
                    return
                stop_if_asked()
                done, _ = wait(running, timeout=_POLL_S, return_when=FIRST_COMPLETED)
                for one in sorted(done, key=running.__getitem__):
                    yield running.pop(one), one.result()
        finally:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            wait([one for one in running if one.running()], timeout=_PATIENCE_S)


def local_runner(jobs: int, most: int | None = None) -> Runner:
    """Return the runner of so many jobs in this process.

    It is this thread if no others would help it.

    Args:
        jobs: how many there are to do.
        most: how many at a time; by default, and at most, one for each processor.
    """
    return Here() if useful_threads(most, jobs) == 1 else Threads(most)
