"""A runner for tests that does all work on values as they come to another process."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial

from writeamp.runners import Threads
from writeamp.runners.runner import J, Lost, T


class AsElsewhere:
    """Threads that know of work, jobs and results only what is pickled of them.

    `result_bytes` has the size of each result.
    """

    def __init__(self) -> None:
        """Begin without results."""
        self.result_bytes: list[int] = []

    def results(
        self,
        work: Callable[[J], T],
        jobs: Sequence[J],
        *,
        lost: Lost[J, T] | None = None,
        files: Collection[str] = (),
    ) -> Iterator[tuple[int, T]]:
        """Give the result of every job."""
        packed = [pickle.dumps(job) for job in jobs]
        for at, found in Threads().results(partial(_done, pickle.dumps(work)), packed):
            self.result_bytes.append(len(found))
            yield at, pickle.loads(found)


def _done(work: bytes, job: bytes) -> bytes:
    return pickle.dumps(pickle.loads(work)(pickle.loads(job)))
