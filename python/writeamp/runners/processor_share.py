"""Number of processors that the work on this thread may use.

A runner limits this number for each of its jobs. So runners within jobs do not start more threads
than there are processors.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import local

_this_thread = local()


def processors() -> int:
    """Return how many threads can run at the same time for the work on this thread."""
    share: int | None = getattr(_this_thread, "processors", None)
    if share is not None:
        return share
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not available on every system
        return os.cpu_count() or 1


@contextmanager
def using_processors(count: int) -> Iterator[None]:
    """Limit the work on this thread to `count` processors, however many the machine has.

    A runner uses this function around each of its jobs. Otherwise, each job that starts a runner
    itself would start a thread for each processor, although other jobs use the processors, too.

    >>> with using_processors(1):
    ...     useful_threads(None, jobs=10)
    1
    """
    previous: int | None = getattr(_this_thread, "processors", None)
    _this_thread.processors = count
    try:
        yield
    finally:
        _this_thread.processors = previous


def useful_threads(limit: int | None, jobs: int) -> int:
    """Return the number of threads to start, at least 1.

    It is the least of `jobs`, the usable processors and `limit`.
    """
    return max(1, min(jobs, processors(), jobs if limit is None else limit))
