"""Check of sequential writers that share their place with others at the same time."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from writeamp.mistakes.finding import Check, Found
from writeamp.mistakes.fio.job import Job
from writeamp.mistakes.fio.job_file import FioJobs, shares_files

_FILL = (
    "A sequential and a random writer write the same place at the same time: the fill is not over "
    "when the random writes begin"
)


def _of_jobs(fio: FioJobs) -> Iterator[Found]:
    writers = [one for one in fio.writers if one.files]
    for job in writers:
        is_shared = not job.has("offset_increment") and len(job.files) < job.copies
        if job.copies > 1 and is_shared and not job.is_random:
            yield Found(
                f"numjobs={job.copies} on {', '.join(job.files)}, no offset_increment", (job.name,)
            )
    for one, other in combinations(writers, 2):
        together = one.phase == other.phase and shares_files(one, other)
        if together and not (one.is_random and other.is_random) and _overlap(one, other):
            yield Found(
                f"{one.name} and {other.name} write {', '.join(set(one.files) & set(other.files))} "
                "at the same time",
                (one.name, other.name),
                message=_FILL if one.is_random != other.is_random else None,
            )


def _overlap(one: Job, other: Job) -> bool:
    first, second = sorted((job.count("offset", 0), job.span_bytes) for job in (one, other))
    is_share = any("%" in job.options.get("offset", "") for job in (one, other))
    return not is_share and (first[1] is None or first[0] + first[1] > second[0])


CHECK = Check(
    "overlapping-jobs",
    "warning",
    "Sequential writers overwrite each other: what one wrote is invalid at once, and the drive is "
    "written less often over than it seems",
    "give each job its own place: offset_increment, offset, or files of their own; or stonewall",
    "fio's HOWTO (numjobs, offset_increment)",
    {"fio job": _of_jobs},
)
