"""Check of drives that are empty or nearly empty when the writes begin."""

from __future__ import annotations

from writeamp.drives.doctor.finding import DoctorCheck, Judgements, Mistake, NotJudged
from writeamp.drives.doctor.inputs import Counters, ResultDocument
from writeamp.drives.doctor.job_loads import FIRST_WRITES, UNIFORM, corrected, of_job
from writeamp.drives.doctor.unknowns import unknown_size, unknown_speed
from writeamp.fio.job import FioJob
from writeamp.fio.job_file import FioJobs, fills, share_of_span, shares_files
from writeamp.units.byte_sizes import shown_bytes


def _of_jobs(fio: FioJobs) -> Judgements:
    for job in fio.jobs:
        previous = fio.writers_before(job)
        # sprandom needs an empty drive, so its jobs are not judged.
        if job.writes and job.is_random and not job.is_sprandom:
            filled = [fills(other, job) for other in previous]
            if None in filled and True not in filled:
                yield from (_open(other) for other in previous if fills(other, job) is None)
            elif True not in filled:
                yield from _of_empty(fio, job, previous)
        elif job.rw == "randread" and job.devices and not previous and job.phase == 0:
            yield Mistake(
                f"{job.rw} of {', '.join(job.devices)}, which are unwritten",
                (job.name,),
                message="Reads of unwritten data need only the mapping table, not the flash",
                severity="note",
            )


def _open(job: FioJob) -> NotJudged:
    """Return why it is unknown whether a job fills its span."""
    if "size" in job.unknown:
        return NotJudged("the job's amount of writes is unknown", (job.name,))
    return unknown_speed(job, job.copies) if job.has_runtime else unknown_size(job)


def _of_empty(fio: FioJobs, job: FioJob, previous: list[FioJob]) -> Judgements:
    """Yield random writes that begin on a drive that was not filled, as far as is known."""
    emptied = fio.emptied(job)
    partly = "".join(f"; {other.name} writes {_amount(other, job)}" for other in previous)
    if emptied is not None and emptied.is_sure:
        yield Mistake(
            f"{emptied.name}, then {job.rw}, and no fill between{partly}",
            (job.name,),
            now=of_job(fio, job, is_alone=True, precondition="none", spans=_spans(job)),
            fixed=corrected(fio, job, is_alone=True),
        )
    elif job.devices or emptied is not None or _reserved(fio, job):
        reserved = "".join(f"; {program.name} writes no data" for program in _reserved(fio, job))
        yield Mistake(
            f"no job writes {', '.join(job.files)} before job {job.name!r} ({job.rw})"
            f"{partly}{reserved}" + (f"; {emptied.name}" if emptied else ""),
            (job.name,),
            message=(
                "If the drive is new, formatted or trimmed, garbage collection starts only after "
                "it has been filled; until then WA is 1"
            ),
            severity="note",
        )


def _spans(job: FioJob) -> float:
    """Return the number of passes of a job over its span; one if it is unknown."""
    moved = job.spans_moved
    return moved.high * job.write_share if 0 < moved.low == moved.high < float("inf") else 1.0


def _amount(other: FioJob, job: FioJob) -> str:
    """Return in words how much of a job's span `other` writes at most."""
    share, passes = share_of_span(other, job), min(1.0, other.spans_moved.high)
    if not share and other.span_bytes is not None:
        return f"{shown_bytes(round(other.span_bytes * passes))} of it"
    return f"{(share or 1.0) * passes:.2g} of it"


def _reserved(fio: FioJobs, job: FioJob) -> list[FioJob]:
    """Return the programs that created a file of a job before the job, but wrote no data."""
    return [
        other
        for other in fio.others
        if other.phase < job.phase
        and not other.writes
        and not other.empties
        and shares_files(other, job)
    ]


def _of_counters(counters: Counters) -> Judgements:
    for drive in counters.lives[:1]:
        capacity = drive.facts.capacity_bytes
        if (
            counters.intervals
            and drive.host is not None
            and capacity
            and drive.host.high < capacity
        ):
            share = float(drive.host.high) / capacity
            yield Mistake(
                f"the host has written {share:.2g} times the capacity since the drive was new",
                now=FIRST_WRITES,
                fixed=UNIFORM,
            )


def _of_result(result: ResultDocument) -> Judgements:
    document = result.document
    written, size = document.get("host_pages"), document.get("logical_pages")
    is_empty = document.get("precondition") == "none"
    if is_empty and isinstance(written, int) and isinstance(size, int) and written < size:
        yield Mistake(
            f"{written:,} pages written to an empty drive of {size:,} pages",
            now=FIRST_WRITES,
            fixed=UNIFORM,
        )


CHECK = DoctorCheck(
    "fresh-drive",
    "warning",
    "Random writes begin on an empty drive: garbage collection starts only after it has been "
    "filled once, and WA is 1 until then",
    "fill the drive sequentially, write its capacity twice at random, and only then measure",
    "SNIA PTS (purge, then preconditioning)",
    {"fio job": _of_jobs, "counters": _of_counters, "result": _of_result},
)
