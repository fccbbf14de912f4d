"""Check of sequential writers that overlap with other writers at the same time."""

from __future__ import annotations

from itertools import combinations

from writeamp.drives.doctor.finding import DoctorCheck, Judgements, Mistake
from writeamp.fio.job import FioJob
from writeamp.fio.job_file import FioJobs

_FILL = (
    "A sequential and a random writer write the same place at the same time: the fill is not "
    "finished when the random writes begin"
)


def _of_jobs(fio: FioJobs) -> Judgements:
    writers = [job for job in fio.writers if job.files]
    for job in writers:
        is_shared = not job.has("offset_increment") and len(job.files) < job.copies
        if job.copies > 1 and is_shared and not job.is_random:
            yield Mistake(
                f"numjobs={job.copies} on {', '.join(job.files)}, no offset_increment", (job.name,)
            )
    for writer, other in combinations(writers, 2):
        shared = set(writer.files) & set(other.files)
        together = writer.phase == other.phase and shared
        if together and not (writer.is_random and other.is_random) and _overlap(writer, other):
            yield Mistake(
                f"{writer.name} and {other.name} write {', '.join(sorted(shared))} at the same "
                "time",
                (writer.name, other.name),
                message=_FILL if writer.is_random != other.is_random else None,
            )


def _overlap(writer: FioJob, other: FioJob) -> bool:
    if any("%" in job.options.get("offset", "") for job in (writer, other)):
        return False
    first, second = sorted((writer, other), key=lambda job: job.count("offset", 0))
    end = None if first.span_bytes is None else first.count("offset", 0) + first.span_bytes
    return end is None or end > second.count("offset", 0)


CHECK = DoctorCheck(
    "overlapping-jobs",
    "warning",
    "Sequential writers overwrite each other: data is invalidated soon after it is written, and "
    "less of the drive is filled than the written bytes suggest",
    "give each job its own part of the drive by offset_increment, offset, or separate files; or "
    "use stonewall",
    "fio's HOWTO (numjobs, offset_increment)",
    {"fio job": _of_jobs},
)
