"""Check of fio's preconditioning to the steady state of random writes in one pass."""

from __future__ import annotations

from writeamp.drives.doctor.finding import DoctorCheck, Judgements, Mistake, NotJudged
from writeamp.drives.doctor.fio.job import FioJob
from writeamp.drives.doctor.fio.job_file import FioJobs, shares_files, touches
from writeamp.drives.doctor.fio.values import size_of
from writeamp.units.byte_sizes import shown_bytes

# What fio takes if nobody says otherwise.
_OP, _REGIONS = 0.15, 100


def _of_jobs(fio: FioJobs) -> Judgements:
    for job in fio.writers:
        if job.is_sprandom:
            yield from _of_op(job)
            yield from _of_span(job)
            yield from _of_cache(job)
            yield from _of_others(fio, job)


def _of_op(job: FioJob) -> Judgements:
    """Yield what is wrong with the over-provisioning, by which it chooses what to overwrite."""
    if "spr_op" in job.unknown:
        yield NotJudged(f"spr_op={job.options['spr_op']} is not known here", (job.name,))
    elif "spr_op" not in job.options:
        yield Mistake(
            f"no spr_op: fio takes {_OP}",
            (job.name,),
            message="sprandom makes the steady state of a drive with another over-provisioning",
            advice="set spr_op to that of the drive, (flash − capacity) / capacity, as its maker "
            "says it or `writeamp measure` estimates it",
        )
    elif job.spr_op is None or not 0 < job.spr_op < 1:
        yield Mistake(
            f"spr_op={job.options['spr_op']}",
            (job.name,),
            message="spr_op is a ratio, (flash − capacity) / capacity, above 0 and below 1",
            advice="write 7% as spr_op=0.07",
            severity="error",
        )
    else:
        yield Mistake(
            f"spr_op={job.options['spr_op']}",
            (job.name,),
            message="sprandom makes the steady state of a drive with this over-provisioning: if "
            "the drive has another, WA drifts from there to its own",
            advice="measure until WA no longer changes, as after any other preconditioning",
            severity="note",
        )


def _of_span(job: FioJob) -> Judgements:
    """Yield that it does not write the whole drive, once."""
    if job.copies > 1 or len(job.files) > 1:
        yield Mistake(
            f"numjobs={job.copies}, {max(1, len(job.files))} files",
            (job.name,),
            message="sprandom is for one job with one file: each copy would invalidate for itself",
            advice="leave numjobs out, and give one device",
            severity="error",
        )
    if job.rw != "randwrite":
        yield Mistake(
            f"rw={job.rw}",
            (job.name,),
            message="sprandom plans random writes, and no others",
            advice="set rw=randwrite",
            severity="error",
        )
    is_part = job.options.get("size", "100%").strip() != "100%" or job.size("offset")
    is_all = job.drive_bytes is not None and job.span_bytes == job.drive_bytes
    if (is_part and not is_all) or (not job.devices and "filename" not in job.unknown):
        size = f"size={job.options['size']}" if "size" in job.options else "no device"
        yield Mistake(
            size,
            (job.name,),
            message="sprandom reckons with the over-provisioning of a drive that it writes whole",
            advice="leave size and offset out, and write to the device itself",
        )


def _of_cache(job: FioJob) -> Judgements:
    """Yield that a cache of the drive may take both writes of an address."""
    if size_of(job.options.get("spr_cs", ""), job.kb_base) or "spr_cs" in job.unknown:
        return
    regions = job.count("spr_num_regions", _REGIONS)
    span, passes = job.whole_span_bytes, job.planned_spans or 1.0
    size = "" if span is None else f", of {shown_bytes(round(span * passes / max(1, regions)))}"
    yield Mistake(
        f"no spr_cs, {regions} regions{size}",
        (job.name,),
        message="sprandom overwrites addresses of a region as soon as it is written: those that "
        "are in a write cache of the drive become invalid there, and too few do in flash",
        advice="set spr_cs to the size of the cache (fio after 2026-02), or fewer, larger regions",
        severity="note",
    )


def _of_others(fio: FioJobs, job: FioJob) -> Judgements:
    """Yield what disturbs the state: data from before, and what follows without being measured."""
    before = fio.before(job)
    if before:
        yield Mistake(
            f"{before[-1].name} writes before it",
            (job.name,),
            message="sprandom begins with an empty drive: older data takes the place of its own",
            advice="purge the drive before (nvme format, blkdiscard), and leave other fills out",
        )
    steps = (*fio.jobs, *fio.others)
    later = [one for one in steps if one.phase > job.phase and (one.writes or one.empties)]
    after = [
        one
        for one in sorted(later, key=lambda one: one.phase)
        if (touches(one, job) if one.empties else shares_files(one, job))
    ]
    if after and not (after[0].is_random and after[0].writes):
        yield Mistake(
            f"{after[0].name} follows",
            (job.name,),
            message="What is written in order, or trimmed, after sprandom undoes the state it made",
            advice="let the random writes that are measured follow at once",
        )


CHECK = DoctorCheck(
    "sprandom",
    "warning",
    "sprandom reaches the steady state of random writes in one pass only if its options describe "
    "the drive",
    "give one job the whole empty drive, and the drive's own over-provisioning",
    "fio pull requests 1954, 2044, 2082; fio issue 2043",
    {"fio job": _of_jobs},
)
