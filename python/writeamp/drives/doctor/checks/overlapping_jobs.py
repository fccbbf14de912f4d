"""Check of sequential writers that share their place with others at the same time."""

from __future__ import annotations

from itertools import combinations

from writeamp.drives.doctor.finding import DoctorCheck, Judgements, Mistake
from writeamp.drives.doctor.fio.job import FioJob
from writeamp.drives.doctor.fio.job_file import FioJobs

_FILL = (
    "A sequential and a random writer write the same place at the same time: the fill is not over "
    "when the random writes begin"
)


def _of_jobs(fio: FioJobs) -> Judgements:
    writers = [one for one in fio.writers if one.files]
    for job in writers:
        is_shared = not job.has("offset_increment") and len(job.files) < job.copies
        if job.copies > 1 and is_shared and not job.is_random:
            yield Mistake(
                f"numjobs={job.copies} on {', '.join(job.files)}, no offset_increment", (job.name,)
            )
    for one, other in combinations(writers, 2):
        shared = set(one.files) & set(other.files)
        together = one.phase == other.phase and shared
        if together and not (one.is_random and other.is_random) and _overlap(one, other):
            yield Mistake(
                f"{one.name} and {other.name} write {', '.join(sorted(shared))} at the same time",
                (one.name, other.name),
                message=_FILL if one.is_random != other.is_random else None,
            )


def _overlap(one: FioJob, other: FioJob) -> bool:
    if any("%" in job.options.get("offset", "") for job in (one, other)):
        return False
    first, second = sorted((one, other), key=lambda job: job.count("offset", 0))
    end = None if first.span_bytes is None else first.count("offset", 0) + first.span_bytes
    return end is None or end > second.count("offset", 0)


CHECK = DoctorCheck(
    "overlapping-jobs",
    "warning",
    "Sequential writers overwrite each other: what one wrote is invalid at once, and the drive is "
    "written less often over than it seems",
    "give each job its own place: offset_increment, offset, or files of their own; or stonewall",
    "fio's HOWTO (numjobs, offset_increment)",
    {"fio job": _of_jobs},
)
