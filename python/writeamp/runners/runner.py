"""Interface of runners, and the gathering of their results in the order of the jobs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Protocol, TypeAlias, TypeVar

from writeamp.errors import Interrupted, WriteampError
from writeamp.fields.domains import shown

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


Progress: TypeAlias = Callable[[int, int], None]


def gather(
    runner: Runner,
    work: Callable[[J], T],
    jobs: Sequence[J],
    *,
    files: Collection[str] = (),
    lost: Lost[J, T] | None = None,
    each: Callable[[int, T], None] | None = None,
    progress: Progress | None = None,
) -> list[T]:
    """Return `work(job)` for every job, in their order.

    Args:
        runner: who does them.
        work: as for `Runner.results`, like `jobs`, `files` and `lost`.
        jobs: what to do it with.
        files: paths that jobs read.
        lost: what to return for a job that ends every process which runs it; None for an error.
        each: called on this thread with the index and the result of each job, as they come.
        progress: called after it with how many are done, and how many there are.

    Raises:
        Interrupted: Ctrl-C; `finished` maps the index of each job that was done to its result.
        BaseException: the error of the first job that failed.
    """
    finished: dict[int, T] = {}
    try:
        for at, result in runner.results(work, jobs, lost=lost, files=files):
            finished[at] = result
            if each:
                each(at, result)
            if progress:
                progress(len(finished), len(jobs))
    except KeyboardInterrupt:
        raise Interrupted(finished) from None
    return [finished[at] for at in range(len(jobs))]


def gather_whole(
    runner: Runner,
    work: Callable[[J], T],
    jobs: Sequence[J],
    *,
    each: Callable[[int, T], None] | None = None,
    progress: Progress | None = None,
) -> list[T]:
    """Return all results as `gather` does; after Ctrl-C there are none, not even a part.

    Raises:
        KeyboardInterrupt: Ctrl-C, whatever was done by then.
        BaseException: the error of the first job that failed.
    """
    try:
        return gather(runner, work, jobs, each=each, progress=progress)
    except Interrupted:
        raise KeyboardInterrupt from None


def check_callbacks(progress: object, runner: object = None) -> None:
    """Refuse before a run what could not be called after a part of it."""
    if progress is not None and not callable(progress):
        raise WriteampError(
            f"progress is {shown(progress)}; it must be a function of two numbers, done and total"
        )
    if runner is not None and (isinstance(runner, type) or not hasattr(runner, "results")):
        raise WriteampError(f"runner is {shown(runner)}; it must be a writeamp.runners.Runner")
