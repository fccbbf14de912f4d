"""Check of random writes that end before a drive is steady."""

from __future__ import annotations

from collections.abc import Iterator

from writeamp.mistakes.finding import Check, Found
from writeamp.mistakes.fio.job import Job
from writeamp.mistakes.fio.job_file import FioJobs, shares_files, span_of
from writeamp.mistakes.fio.output import FioOutput

# Times that the span is written, its fill among them, before a drive may be steady: SNIA's
# preconditioning is twice the capacity.
_FEWEST = 2.0


def _of_jobs(fio: FioJobs) -> Iterator[Found]:
    if isinstance(fio, FioOutput):
        return
    for job in _measured(fio):
        mine, earlier = _spans(job), [_spans(one) for one in fio.before(job)]
        if mine is not None and None not in earlier:
            yield from _judged(job, mine, sum(one or 0.0 for one in earlier))


def _of_output(fio: FioOutput) -> Iterator[Found]:
    for job in _measured(fio):
        span = span_of(fio, job)
        if not span:
            continue
        mine, *earlier = (
            fio.written_bytes(fio.jobs.index(one)) / (span * _own_files(one))
            for one in [job, *fio.before(job)]
        )
        yield from _judged(job, mine, sum(earlier))


def _measured(fio: FioJobs) -> Iterator[Job]:
    """Yield the jobs that write random addresses and are not followed by others that do."""
    for job in fio.writers:
        is_followed = any(
            one.is_random and one.phase > job.phase and shares_files(one, job)
            for one in fio.writers
        )
        if job.is_random and job.draws_evenly and not is_followed:
            yield job


def _spans(job: Job) -> float | None:
    """Return how often a job writes its span, all copies together; None if nobody knows."""
    moved = job.spans_moved
    if moved is None:
        return None
    return moved * job.write_share * job.copies / _own_files(job)


def _own_files(job: Job) -> int:
    """Return how many spans the copies of a job write to: their own, unless a file is named."""
    return 1 if job.files else job.copies


def _judged(job: Job, mine: float, earlier: float) -> Iterator[Found]:
    if mine <= 0 or mine + earlier >= _FEWEST:
        return
    before = f", after {earlier:.3g} before" if earlier else ""
    yield Found(
        f"{mine:.3g} times the span is written{before}",
        (job.name,),
        now=("first_writes", round(mine, 2), "full" if earlier else "none"),
        fixed=("uniform",),
    )


CHECK = Check(
    "too-few-writes",
    "warning",
    "Random writes end before the drive is steady: its first collections find better victims than "
    "later ones, so that WA is too low",
    "fill the drive, then write it at least twice over before anything is measured, and measure "
    "until WA no longer changes (time_based, or io_size of many times the size)",
    "SNIA PTS; docs/steady-state.md",
    {"fio job": _of_jobs, "fio output": _of_output},
)
