"""Share of the processors that the work on this thread may use.

By it runners within runners add up.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import local

_this_thread = local()


def processors() -> int:
    """Return the number of threads that can run at the same time for the work on this thread."""
    share: int | None = getattr(_this_thread, "processors", None)
    if share is not None:
        return share
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


@contextmanager
def using_processors(count: int) -> Iterator[None]:
    """Let the work on this thread use so many processors, whatever the machine has.

    A runner says so around each of its jobs, or a job that asks for a runner itself would start a
    thread for each processor, as would all the jobs beside it.

    >>> with using_processors(1):
    ...     useful_threads(None, jobs=10)
    1
    """
    before: int | None = getattr(_this_thread, "processors", None)
    _this_thread.processors = count
    try:
        yield
    finally:
        _this_thread.processors = before


def useful_threads(asked: int | None, jobs: int) -> int:
    """Return the number of threads to start: the least of jobs, processors and those asked for."""
    return max(1, min(jobs, processors(), jobs if asked is None else asked))
