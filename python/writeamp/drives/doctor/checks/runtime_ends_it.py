"""Check of jobs that end by their runtime before they have written their amount."""

from __future__ import annotations

from writeamp.drives.doctor.finding import DoctorCheck, Judgements, Mistake
from writeamp.drives.doctor.unknowns import unknown_speed
from writeamp.fio.job import FioJob
from writeamp.fio.job_file import FioJobs, counted
from writeamp.fio.values import shown_speed

# A job has written its amount if less than this share is missing.
_MATERIAL = 0.01


def _of_jobs(fio: FioJobs) -> Judgements:
    for job in fio.writers:
        goal = 1.0 if job.is_timed else job.planned_spans
        # The check `too-few-writes` judges random writes that end by time.
        is_meant = goal is not None and not (job.is_timed and job.is_random)
        if not (job.has_runtime and job.whole_span_bytes and goal and is_meant):
            continue
        moved = job.spans_moved
        if moved.high < (1 - _MATERIAL) * goal:
            yield Mistake(_evidence(job, goal), (job.name,))
        elif moved.low < (1 - _MATERIAL) * goal and not job.is_random:
            yield unknown_speed(job, job.copies, goal)


def _evidence(job: FioJob, goal: float) -> str:
    runtime, moved = f"runtime={job.options['runtime']}", job.spans_moved
    if job.moved_bytes is not None:
        return f"{runtime}, but {moved.high:.3g} of {counted(goal)} over the span were written"
    needed = goal * (job.whole_span_bytes or 0) * job.copies / job.seconds("runtime")
    limit = "no drive is that fast" if job.rate_bytes_s is None else "the option rate allows less"
    return (
        f"{runtime}: for {counted(goal)} over the span {shown_speed(needed)} would be needed, but "
        f"{limit}; at most {moved.high:.3g} passes would be written"
    )


CHECK = DoctorCheck(
    "runtime-ends-it",
    "warning",
    "The runtime ends the job before it has written the amount that its options request: a fill "
    "leaves part "
    "of the drive unwritten",
    "remove runtime and time_based from a fill, or set the time that the drive needs",
    "fio's HOWTO (runtime, time_based)",
    {"fio job": _of_jobs},
)
