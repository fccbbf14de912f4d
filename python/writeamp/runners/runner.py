"""Interface of runners: many jobs go in, their results come back in whatever order."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Protocol, TypeAlias, TypeVar

J = TypeVar("J")
T = TypeVar("T")

# What a job comes to that ended every process which ran it; the text says how.
Lost: TypeAlias = Callable[[J, str], T]


class Runner(Protocol):
    """Runner: does many jobs and gives their results."""

    def results(
        self,
        work: Callable[[J], T],
        jobs: Sequence[J],
        *,
        lost: Lost[J, T] | None = None,
        files: Collection[str] = (),
    ) -> Iterator[tuple[int, T]]:
        """Give the index of each job once, with `work(job)`, as it comes.

        What still runs is given up when the iterator is closed.

        Args:
            work: a function of a module and no closure, as are all of `jobs` plain values, if the
                runner is another process.
            jobs: what to do it with.
            lost: what to give for a job that ends every process which runs it; None for an error.
            files: paths that jobs read; a process elsewhere gets what it cannot read itself.

        Raises:
            WriteampError: the jobs cannot be run at all.
            KeyboardInterrupt: Ctrl-C.
            BaseException: the error of the first job that failed.
        """
