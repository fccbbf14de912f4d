"""Choice of the runner within this process: the calling thread, or several."""

from __future__ import annotations

from writeamp.runners.calling_thread import Here
from writeamp.runners.processor_share import useful_threads
from writeamp.runners.runner import Runner
from writeamp.runners.threads import Threads


def local_runner(jobs: int, most: int | None = None) -> Runner:
    """Return the runner of so many jobs in this process.

    It is this thread if no others would help it.

    Args:
        jobs: how many there are to do.
        most: how many at a time; by default, and at most, one for each processor.
    """
    return Here() if useful_threads(most, jobs) == 1 else Threads(most)
