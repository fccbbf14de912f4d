"""Interface of runners, and collection of their results in the order of the jobs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Protocol, TypeAlias, TypeVar

from writeamp.errors import Interrupted, WriteampError
from writeamp.fields.domains import shown

J = TypeVar("J")
T = TypeVar("T")

# Function that makes a result for a job that was tried several times, each time until its worker
# process died. It gets the job, and a text on how the processes died.
Lost: TypeAlias = Callable[[J, str], T]


class Runner(Protocol):
    """Runner: runs jobs and yields their results."""

    def results(
        self,
        work: Callable[[J], T],
        jobs: Sequence[J],
        *,
        lost: Lost[J, T] | None = None,
        files: Collection[str] = (),
    ) -> Iterator[tuple[int, T]]:
        """Yield the index of each job once, with `work(job)`, in order of completion.

        Jobs that still run are cancelled when the iterator is closed.

        Args:
            work: a function of one job. If the runner uses other processes, `work` must be a
                module-level function, not a closure, and all of `jobs` plain values.
            jobs: arguments of `work`, one for each call.
            lost: makes a result for a job whose worker process died each time the job was tried; if
                None, an error is raised instead.
            files: paths of files that jobs read. Files that a remote process cannot read itself are
                sent to it.

        Raises:
            WriteampError: the jobs cannot be run.
            KeyboardInterrupt: Ctrl-C.
            BaseException: the error of the first job that failed.
        """


# Function that is called with the amount of work done and the total, such as numbers of jobs.
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
    """Return `work(job)` for every job, in the order of the jobs.

    Args:
        runner: runner of the jobs.
        work: as in `Runner.results`.
        jobs: as in `Runner.results`.
        files: as in `Runner.results`.
        lost: as in `Runner.results`.
        each: called on this thread with the index and result of each job, in order of completion.
        progress: called with the number of jobs done and the total: at first, and after `each`.

    Raises:
        Interrupted: Ctrl-C; `finished` maps the index of each finished job to its result.
        BaseException: the error of the first job that failed.
    """
    finished: dict[int, T] = {}
    try:
        if progress:
            progress(0, len(jobs))
        for index, result in runner.results(work, jobs, lost=lost, files=files):
            finished[index] = result
            if each:
                each(index, result)
            if progress:
                progress(len(finished), len(jobs))
    except KeyboardInterrupt:
        raise Interrupted(finished) from None
    return [finished[index] for index in range(len(jobs))]


def gather_whole(
    runner: Runner,
    work: Callable[[J], T],
    jobs: Sequence[J],
    *,
    each: Callable[[int, T], None] | None = None,
    progress: Progress | None = None,
) -> list[T]:
    """Return all results as `gather` does, but discard finished results at Ctrl-C.

    Raises:
        KeyboardInterrupt: Ctrl-C, even if some jobs were finished.
        BaseException: the error of the first job that failed.
    """
    try:
        return gather(runner, work, jobs, each=each, progress=progress)
    except Interrupted:
        raise KeyboardInterrupt from None


def check_callbacks(progress: object, runner: object = None) -> None:
    """Reject a callback or runner that would fail only in the middle of a run."""
    if progress is not None and not callable(progress):
        raise WriteampError(
            f"progress is {shown(progress)}; it must be a function of two numbers, the amount of "
            "work done and the total"
        )
    if runner is not None and (isinstance(runner, type) or not hasattr(runner, "results")):
        raise WriteampError(f"runner is {shown(runner)}; it must be a writeamp.runners.Runner")
