"""Check of random writes that end before a drive is steady."""

from __future__ import annotations

from collections.abc import Iterator

from writeamp.drives.doctor.finding import DoctorCheck, Judgements, Mistake, NotJudged
from writeamp.drives.doctor.job_loads import corrected, of_job
from writeamp.drives.doctor.unknowns import unknown_size, unknown_speed
from writeamp.fio.job import FioJob
from writeamp.fio.job_file import FioJobs, shares_files
from writeamp.fio.output import FioOutput
from writeamp.fio.values import Limits

# Number of times that the span must be written, including its fill, before a drive may be steady.
# SNIA's preconditioning writes twice the capacity.
_FEWEST = 2.0


def _of_jobs(fio: FioJobs) -> Judgements:
    if isinstance(fio, FioOutput):
        return
    for job in _measured(fio):
        own_spans, earlier = (
            _spans(job),
            [(other, _spans(other)) for other in fio.writers_before(job)],
        )
        previous = Limits(
            sum(moved.low for _, moved in earlier), sum(moved.high for _, moved in earlier)
        )
        if own_spans.high + previous.high < _FEWEST:
            yield from _judged(fio, job, own_spans, previous)
        elif own_spans.low + previous.low < _FEWEST:
            # A job with an unknown amount is reported: this job, or an earlier one.
            open_ones = [
                writer for writer, spans in [(job, own_spans), *earlier] if spans.low < spans.high
            ]
            yield _open(open_ones[0])


def _open(job: FioJob) -> NotJudged:
    """Return why it is unknown how often a job writes its span."""
    if job.whole_span_bytes is None or not job.has_runtime:
        return unknown_size(job)
    return unknown_speed(job, _own_files(job), _FEWEST)


def _of_output(fio: FioOutput) -> Judgements:
    for job in _measured(fio):
        span = job.whole_span_bytes
        if not span:
            continue
        own_spans, *earlier = (
            fio.written_bytes(fio.jobs.index(writer)) / (span * _own_files(writer))
            for writer in [job, *fio.writers_before(job)]
        )
        previous = sum(earlier)
        if own_spans + previous < _FEWEST:
            yield from _judged(fio, job, Limits(own_spans, own_spans), Limits(previous, previous))


def _measured(fio: FioJobs) -> Iterator[FioJob]:
    """Yield jobs of uniform random writes that no later random job on their files follows.

    Jobs on a drive that sprandom prepared are left out.
    """
    for job in fio.writers:
        is_followed = any(
            writer.is_random and writer.phase > job.phase and shares_files(writer, job)
            for writer in fio.writers
        )
        is_aged = any(writer.is_sprandom for writer in (job, *fio.writers_before(job)))
        if job.is_random and job.draws_evenly and not is_followed and not is_aged:
            yield job


def _spans(job: FioJob) -> Limits:
    """Return how often a job writes its span, all copies together."""
    return job.spans_moved.times(job.write_share * job.copies / _own_files(job))


def _own_files(job: FioJob) -> int:
    """Return the number of separate spans of a job: one per copy, unless a file is named."""
    return 1 if job.files else job.copies


def _judged(fio: FioJobs, job: FioJob, spans: Limits, earlier: Limits) -> Judgements:
    if spans.high <= 0:
        return
    after_previous = f", after {_times(earlier)} by earlier jobs" if earlier.high else ""
    yield Mistake(
        f"the span is written {_times(spans)}{after_previous}{_why_bounded(job, spans)}",
        (job.name,),
        now=of_job(
            fio,
            job,
            is_alone=True,
            precondition="full" if earlier.high else "none",
            spans=spans.high,
        ),
        fixed=corrected(fio, job, is_alone=True),
    )


def _times(number: Limits) -> str:
    shown = f"{number.high:.3g}"
    at_most = "at most " if number.low < number.high else ""
    return at_most + ("once" if shown == "1" else f"{shown} times")


def _why_bounded(job: FioJob, spans: Limits) -> str:
    """Return the reason why a job ends before its amount is written, or ""."""
    if spans.low == spans.high or not job.seconds("runtime"):
        return ""
    return f", as runtime={job.options['runtime']} ends it"


CHECK = DoctorCheck(
    "too-few-writes",
    "warning",
    "Random writes end before the drive is steady: garbage collection first finds blocks with "
    "fewer valid pages than later, so the WA is too low",
    "fill the drive, then write its capacity at least twice before the measurement, and measure "
    "until WA no longer changes (time_based, or io_size of many times the size)",
    "SNIA PTS; docs/steady-state.md",
    {"fio job": _of_jobs, "fio output": _of_output},
)
