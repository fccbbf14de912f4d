"""Check of writes to only a part of the drive."""

from __future__ import annotations

import re

from writeamp.drives.doctor.finding import DoctorCheck, Judgements, Mistake, NotJudged
from writeamp.drives.doctor.job_loads import UNIFORM, corrected, of_job, uniform_in
from writeamp.drives.doctor.traces import TraceFacts
from writeamp.drives.doctor.unknowns import unknown_size
from writeamp.fio.job import FioJob
from writeamp.fio.job_file import SMALLEST_DRIVE_BYTES, FioJobs, shares_files
from writeamp.units.byte_sizes import shown_bytes

_SMALL = 0.9
_DRIVE = re.compile(r"/dev/(nvme|sd[a-z]|disk/|ng\d)")
_PARTITION = re.compile(r"/dev/(nvme\d+n\d+p\d+|sd[a-z]+\d+)")


def _of_jobs(fio: FioJobs) -> Judgements:
    for job in fio.writers:
        if not job.is_random or job.is_sprandom:
            continue
        share = _reach(fio, job)
        fills = [_fills(other, fio.capacity_bytes) for other in fio.writers_before(job)]
        filled = True in fills
        span = job.span_bytes
        if not filled and None in fills:
            name = fio.writers_before(job)[fills.index(None)].name
            yield NotJudged(f"it is unknown whether {name} fills the drive", (job.name,))
        elif share is not None and share < _SMALL and not filled:
            yield Mistake(
                f"the jobs reach {share:.3g} of the drive's capacity",
                (job.name,),
                now=of_job(fio, job, precondition="none"),
                fixed=corrected(fio, job, without=("size", "offset", "offset_increment")),
            )
        elif share is None and not filled and fio.capacity_bytes is None and span is not None:
            yield from _small(job, span)


def _small(job: FioJob, span_bytes: int) -> Judgements:
    """Yield a span smaller than most drives, on a drive of unknown size."""
    if span_bytes >= SMALLEST_DRIVE_BYTES and job.devices:
        yield unknown_size(job)
    if span_bytes >= SMALLEST_DRIVE_BYTES or not (job.files or "directory" in job.options):
        return
    if "filename" in job.unknown and not job.devices:
        yield NotJudged(f"filename={job.options['filename']} is unknown", (job.name,))
        return
    is_whole = any(_DRIVE.match(file) and not _PARTITION.match(file) for file in job.files)
    yield Mistake(
        f"size is {shown_bytes(span_bytes)} of "
        f"{', '.join(job.files) or job.options['directory']}, smaller than most drives",
        (job.name,),
        severity=None if is_whole else "note",
    )


def _fills(job: FioJob, capacity_bytes: int | None) -> bool | None:
    """Return whether a job writes at least 90% of the drive; None if unknown.

    If the drive's size is unknown, the job's span must be as large as a small drive.
    """
    share, written = _share(job, capacity_bytes), job.spans_moved.times(job.write_share)
    is_large = job.span_bytes is None or job.span_bytes >= SMALLEST_DRIVE_BYTES
    if (share < _SMALL if share is not None else not is_large) or written.high < _SMALL:
        return False
    return True if written.low >= _SMALL and "size" not in job.unknown else None


def _reach(fio: FioJobs, job: FioJob) -> float | None:
    """Return the share of the drive that a job, concurrent jobs and earlier jobs write together.

    Only jobs on the same files count, and one job per offset. Returns None if a share is unknown.
    """
    shares_of_files = {
        writer.options.get("offset", "0"): _share(writer, fio.capacity_bytes)
        for writer in fio.writers
        if writer is job
        or (writer.phase == job.phase and shares_files(writer, job))
        or (writer in fio.writers_before(job) and writer.spans_moved.low >= _SMALL)
    }
    shares = [share for share in shares_of_files.values() if share is not None]
    return sum(shares) if len(shares) == len(shares_of_files) else None


def _share(job: FioJob, capacity_bytes: int | None) -> float | None:
    """Return the share of the drive that a job writes; None if unknown."""
    if job.span_share is not None:
        # A size in percent of a file refers to the file, so the share of the drive is unknown.
        each = job.copies if job.has("offset_increment") else 1
        return job.span_share * each if job.devices else None
    if job.span_bytes is None or capacity_bytes is None:
        return None
    return job.span_bytes * (job.copies if job.has_own_places else 1) / capacity_bytes


def _of_trace(trace: TraceFacts) -> Judgements:
    if trace.capacity_bytes is None or not trace.offsets.size:
        return
    share = trace.extent_bytes / trace.capacity_bytes
    if share < _SMALL:
        yield Mistake(
            f"the trace's addresses end at {share:.3g} of the drive's capacity",
            severity="note",
            now=uniform_in(share),
            fixed=UNIFORM,
        )


CHECK = DoctorCheck(
    "small-span",
    "warning",
    "The writes reach only part of the drive. If the rest has no data, it is also spare space, "
    "and WA is that of a drive with much higher over-provisioning",
    "remove size or set size=100%, or fill the rest of the drive first",
    "SNIA PTS (term: active range); fio issue 407",
    {"fio job": _of_jobs, "trace": _of_trace},
)
