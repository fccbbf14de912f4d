"""Check of drives that hold little data when the writes begin, or nothing."""

from __future__ import annotations

from writeamp.drives.doctor.finding import DoctorCheck, Judgements, Mistake, NotJudged
from writeamp.drives.doctor.fio.job import FioJob
from writeamp.drives.doctor.fio.job_file import (
    FioJobs,
    fills,
    share_of_span,
    shares_files,
    unknown_size,
    unknown_speed,
)
from writeamp.drives.doctor.inputs import Counters, ResultDocument
from writeamp.units.byte_sizes import shown_bytes

_NOW, _FIXED = ("first_writes", 1.0, "none"), ("uniform",)


def _of_jobs(fio: FioJobs) -> Judgements:
    for job in fio.jobs:
        before = fio.before(job)
        # An empty drive is what sprandom is for.
        if job.writes and job.is_random and not job.is_sprandom:
            filled = [fills(one, job) for one in before]
            if None in filled and True not in filled:
                yield from (_open(one) for one in before if fills(one, job) is None)
            elif True not in filled:
                yield from _of_empty(fio, job, before)
        elif job.rw == "randread" and job.devices and not before and job.phase == 0:
            yield Mistake(
                f"{job.rw} of {', '.join(job.devices)}, which no job has written",
                (job.name,),
                message="What was never written is read from the map alone, faster than flash",
                severity="note",
            )


def _open(job: FioJob) -> NotJudged:
    """Return why nobody knows whether a job fills its span."""
    if "size" in job.unknown:
        return NotJudged("how much it writes is not known here", (job.name,))
    return unknown_speed(job, job.copies) if job.has_runtime else unknown_size(job)


def _of_empty(fio: FioJobs, job: FioJob, before: list[FioJob]) -> Judgements:
    """Yield that random writes begin where nothing has filled the drive, as far as is known."""
    emptied = fio.emptied(job)
    partly = "".join(f"; {one.name} writes {_amount(one, job)}" for one in before)
    if emptied is not None and emptied.is_sure:
        yield Mistake(
            f"{emptied.name}, then {job.rw}, and no fill between{partly}",
            (job.name,),
            now=_NOW,
            fixed=_FIXED,
        )
    elif job.devices or emptied is not None or _reserved(fio, job):
        reserved = "".join(f"; {one.name} writes nothing" for one in _reserved(fio, job))
        yield Mistake(
            f"no job writes {', '.join(job.files)} before {job.rw}{partly}{reserved}"
            + (f"; {emptied.name}" if emptied else ""),
            (job.name,),
            message="If the drive is new, formatted or trimmed, nothing is collected until it has "
            "been filled, and WA is 1",
            severity="note",
        )


def _amount(one: FioJob, job: FioJob) -> str:
    """Return how much of the span of a job another writes at most, in words."""
    share, passes = share_of_span(one, job), min(1.0, one.spans_moved.high)
    if not share and one.span_bytes is not None:
        return f"{shown_bytes(round(one.span_bytes * passes))} of it"
    return f"{(share or 1.0) * passes:.2g} of it"


def _reserved(fio: FioJobs, job: FioJob) -> list[FioJob]:
    """Return the programs that made a file of a job before it, without a write."""
    return [
        one
        for one in fio.others
        if one.phase < job.phase and not one.writes and not one.empties and shares_files(one, job)
    ]


def _of_counters(counters: Counters) -> Judgements:
    for one in counters.lives[:1]:
        capacity = one.facts.capacity_bytes
        if counters.intervals and one.host is not None and capacity and one.host.high < capacity:
            share = float(one.host.high) / capacity
            yield Mistake(
                f"the host has written {share:.2g} times the capacity since the drive was new",
                now=_NOW,
                fixed=_FIXED,
            )


def _of_result(result: ResultDocument) -> Judgements:
    found = result.document
    written, size = found.get("host_pages"), found.get("logical_pages")
    is_empty = found.get("precondition") == "none"
    if is_empty and isinstance(written, int) and isinstance(size, int) and written < size:
        yield Mistake(
            f"{written:,} pages written to an empty drive of {size:,}", now=_NOW, fixed=_FIXED
        )


CHECK = DoctorCheck(
    "fresh-drive",
    "warning",
    "Random writes begin on an empty drive: until it has been filled once nothing is collected, "
    "and WA is 1",
    "fill the drive in order, then write it at random twice over, and only then measure",
    "SNIA PTS (purge, then preconditioning)",
    {"fio job": _of_jobs, "counters": _of_counters, "result": _of_result},
)
