"""Check of random writes that end before a drive is steady."""

from __future__ import annotations

from collections.abc import Iterator

from writeamp.mistakes.finding import Check, Found, NotJudged
from writeamp.mistakes.fio.job import Job
from writeamp.mistakes.fio.job_file import FioJobs, shares_files, unknown_size
from writeamp.mistakes.fio.output import FioOutput

# Times that the span is written, its fill among them, before a drive may be steady: SNIA's
# preconditioning is twice the capacity.
_FEWEST = 2.0


def _of_jobs(fio: FioJobs) -> Iterator[Found | NotJudged]:
    if isinstance(fio, FioOutput):
        return
    for job in _measured(fio):
        mine, earlier = _spans(job), [_spans(one) for one in fio.before(job)]
        if mine is None and not job.is_timed:
            yield unknown_size(job)
        elif mine is not None and None not in earlier:
            yield from _judged(job, mine, sum(one or 0.0 for one in earlier))


def _of_output(fio: FioOutput) -> Iterator[Found]:
    for job in _measured(fio):
        span = job.whole_span_bytes
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
    before = f", after {_times(earlier)} before" if earlier else ""
    yield Found(
        f"the span is written {_times(mine)}{before}",
        (job.name,),
        now=("first_writes", round(mine, 2), "full" if earlier else "none"),
        fixed=("uniform",),
    )


def _times(number: float) -> str:
    shown = f"{number:.3g}"
    return "once" if shown == "1" else f"{shown} times"


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
