"""Check of drives that hold little data when the writes begin, or nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from writeamp.mistakes.finding import Check, Found
from writeamp.mistakes.fio.job import Job
from writeamp.mistakes.fio.job_file import FioJobs, shares_files
from writeamp.mistakes.inputs import Counters, ResultDocument

_PURGE = re.compile(r"\b(blkdiscard|nvme\s+(format|sanitize)|security-erase|hdparm\s+--trim)\b")
_NOW, _FIXED = ("first_writes", 1.0, "none"), ("uniform",)


def _of_jobs(fio: FioJobs) -> Iterator[Found]:
    for job in fio.jobs:
        purge = _purged(fio, job)
        is_filled = any(one.writes for one in fio.before(job))
        if job.writes and job.is_random and purge and not is_filled:
            yield Found(
                f"{purge}, then {job.rw}, and no fill between", (job.name,), now=_NOW, fixed=_FIXED
            )
        elif job.writes and job.is_random and job.devices and not is_filled:
            yield Found(
                f"no job writes {', '.join(job.devices)} before {job.rw}",
                (job.name,),
                message="If the drive is new, formatted or trimmed, nothing is collected until it "
                "has been filled, and WA is 1",
                severity="note",
            )
        elif job.rw == "randread" and job.devices and not fio.before(job) and job.phase == 0:
            yield Found(
                f"{job.rw} of {', '.join(job.devices)}, which no job has written",
                (job.name,),
                message="What was never written is read from the map alone, faster than flash",
                severity="note",
            )


def _purged(fio: FioJobs, job: Job) -> str:
    """Return what empties the drive before a job; "" if nothing does."""
    for text in (job.options.get("exec_prerun", ""), fio.commands.split("fio ", 1)[0]):
        found = _PURGE.search(text)
        if found is not None and job.phase == 0:
            return found[0]
    trims = [
        one
        for one in fio.jobs
        if one.phase < job.phase and one.rw in {"trim", "randtrim"} and shares_files(one, job)
    ]
    return f"job {trims[0].name} trims" if trims else ""


def _of_counters(counters: Counters) -> Iterator[Found]:
    for one in counters.lives[:1]:
        capacity = one.facts.capacity_bytes
        if counters.intervals and one.host is not None and capacity and one.host.high < capacity:
            share = float(one.host.high) / capacity
            yield Found(
                f"the host has written {share:.2g} times the capacity since the drive was new",
                now=_NOW,
                fixed=_FIXED,
            )


def _of_result(result: ResultDocument) -> Iterator[Found]:
    found = result.document
    written, size = found.get("host_pages"), found.get("logical_pages")
    is_empty = found.get("precondition") == "none"
    if is_empty and isinstance(written, int) and isinstance(size, int) and written < size:
        yield Found(
            f"{written:,} pages written to an empty drive of {size:,}", now=_NOW, fixed=_FIXED
        )


CHECK = Check(
    "fresh-drive",
    "warning",
    "Random writes begin on an empty drive: until it has been filled once nothing is collected, "
    "and WA is 1",
    "fill the drive in order, then write it at random twice over, and only then measure",
    "SNIA PTS (purge, then preconditioning)",
    {"fio job": _of_jobs, "counters": _of_counters, "result": _of_result},
)
