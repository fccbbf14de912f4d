"""Reasons why a job of fio cannot be judged: facts that the doctor does not know."""

from __future__ import annotations

from writeamp.drives.doctor.finding import NotJudged
from writeamp.fio.job import FioJob
from writeamp.fio.job_file import counted
from writeamp.fio.values import shown_speed


def unknown_size(job: FioJob) -> NotJudged:
    """Return that a job cannot be judged, because the size of its files is unknown."""
    named = ", ".join(job.files) or "its files"
    return NotJudged(f"the size of {named} is unknown. Pass --capacity", (job.name,))


def unknown_speed(job: FioJob, copies: int, times: float = 1.0) -> NotJudged:
    """Return that a job cannot be judged, because its runtime may end it before its last pass.

    Args:
        job: job with a known span and runtime.
        copies: number of copies that write separate spans.
        times: passes over the span that must be completed.
    """
    seconds, span = job.seconds("runtime"), job.whole_span_bytes or 0
    runtime = f"runtime={job.options['runtime']}"
    if not seconds or not span:
        return NotJudged(
            f"{runtime} may end the job after an unknown amount of writes", (job.name,)
        )
    needed = shown_speed(times * span * copies / seconds)
    return NotJudged(
        f"{runtime} may end the job before {counted(times)} over {span:,} bytes, for which "
        f"{needed} would be needed; the speed is unknown. Pass fio's output, or set rate",
        (job.name,),
    )
