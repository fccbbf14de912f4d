"""Check of sprandom, fio's preconditioning to the steady state of random writes in one pass."""

from __future__ import annotations

from typing import Any

from writeamp.drives.doctor.finding import DoctorCheck, Judgements, Mistake, NotJudged
from writeamp.fio.job import SPR_OP, FioJob
from writeamp.fio.job_file import FioJobs, shares_files, touches
from writeamp.units.byte_sizes import shown_bytes

# fio's default number of regions.
_REGIONS = 100
# Assumed size of a drive's write cache (DRAM, or flash in SLC mode) over that of the drive.
_CACHE_SHARE = 0.01


def _of_jobs(fio: FioJobs) -> Judgements:
    for job in fio.writers:
        if job.is_sprandom:
            yield from _of_op(job)
            yield from _of_span(job)
            yield from _of_cache(job)
            yield from _of_others(fio, job)


def _of_op(job: FioJob) -> Judgements:
    """Yield errors in spr_op, the over-provisioning that fio assumes; a note if it is valid."""
    if "spr_op" in job.unknown:
        yield NotJudged(f"spr_op={job.options['spr_op']} is unknown", (job.name,))
    elif "spr_op" not in job.options:
        yield Mistake(
            f"no spr_op: the default is {SPR_OP}",
            (job.name,),
            **_simulated(job, SPR_OP),
            message="sprandom prepares the steady state for another over-provisioning",
            advice="set spr_op to the drive's value, (flash − capacity) / capacity, as its vendor "
            "states it or `writeamp measure` estimates it",
        )
    elif job.spr_op is None or not 0 < job.spr_op < 1:
        yield Mistake(
            f"spr_op={job.options['spr_op']}",
            (job.name,),
            message="spr_op must be a ratio, (flash − capacity) / capacity, above 0 and below 1",
            advice="write 7% as spr_op=0.07",
            severity="error",
        )
    else:
        yield Mistake(
            f"spr_op={job.options['spr_op']}",
            (job.name,),
            message="sprandom prepares the steady state for this over-provisioning. If "
            "the drive has another value, WA drifts to the steady value of the drive's "
            "over-provisioning",
            advice="measure until WA no longer changes, as after any preconditioning",
            severity="note",
            **_simulated(job, job.spr_op),
        )


def _simulated(job: FioJob, op: float, cache_share: float = 0.0) -> dict[str, Any]:
    """Return the simulations of the first random writes after sprandom and of the steady state."""
    regions = job.count("spr_num_regions", _REGIONS)
    if regions < 1 or "spr_num_regions" in job.unknown:
        return {}
    how = ("after_sprandom", op, regions, job.size("spr_cs") or 0)
    cache = "without a write cache"
    if cache_share:
        span = job.whole_span_bytes
        size = "" if span is None else f"{shown_bytes(round(cache_share * span))}, "
        cache = f"with a write cache of {cache_share:.0%} of the drive ({size}assumed)"
    effect = (
        f"On an empty drive of op {op:g} {cache}, random writes right after it have WA {{now}} "
        "over one drive write, instead of {fixed} in the steady state ({change})"
    )
    return {
        "now": (*how, cache_share, "first"),
        "fixed": (*how, 0.0, "steady"),
        "effect": effect,
    }


def _of_span(job: FioJob) -> Judgements:
    """Yield a job that does not write the whole drive exactly once."""
    if job.copies > 1 or len(job.files) > 1:
        yield Mistake(
            f"numjobs={job.copies}, {max(1, len(job.files))} files",
            (job.name,),
            message=(
                "sprandom supports one job with one file, as each copy invalidates only its own "
                "writes"
            ),
            advice="remove numjobs, and use one device",
            severity="error",
        )
    if job.rw != "randwrite":
        yield Mistake(
            f"rw={job.rw}",
            (job.name,),
            message="sprandom supports random writes only",
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
            message="sprandom assumes that it writes the whole drive",
            advice="remove size and offset, and write to the device itself",
        )


def _of_cache(job: FioJob) -> Judgements:
    """Yield a job without spr_cs, as the drive's cache may absorb both writes of an address."""
    regions = job.count("spr_num_regions", _REGIONS)
    op = SPR_OP if job.spr_op is None or not 0 < job.spr_op < 1 else job.spr_op
    span, passes = job.whole_span_bytes, job.planned_spans or 1.0
    written = None if span is None else span * passes
    size = "" if written is None else f" of {shown_bytes(round(written / max(1, regions)))} each"
    cache_bytes = job.size("spr_cs")
    if cache_bytes and written is not None and cache_bytes * regions > written:
        yield Mistake(
            f"spr_cs={job.options['spr_cs']}, {regions} regions{size}",
            (job.name,),
            message="fio rejects an spr_cs that is larger than a region",
            advice="set fewer regions by spr_num_regions, or the size of the drive's cache",
            severity="error",
        )
    if cache_bytes or "spr_cs" in job.unknown:
        return
    yield Mistake(
        f"no spr_cs, {regions} regions{size}",
        (job.name,),
        message="sprandom overwrites addresses of a region once it is written: addresses that "
        "are still in the drive's write cache are invalidated there, so too few are invalid in "
        "flash",
        advice="set spr_cs to the size of the cache (fio after 2026-02), or fewer, larger regions",
        severity="note",
        **_simulated(job, op, _CACHE_SHARE),
    )


def _of_others(fio: FioJobs, job: FioJob) -> Judgements:
    """Yield jobs that disturb the prepared state: writes before it, or other writes after it."""
    previous = fio.writers_before(job)
    if previous:
        yield Mistake(
            f"{previous[-1].name} writes before sprandom",
            (job.name,),
            message="sprandom needs an empty drive: older data takes its space",
            advice="purge the drive first (nvme format, blkdiscard), and remove other fills",
        )
    steps = (*fio.jobs, *fio.others)
    later = [step for step in steps if step.phase > job.phase and (step.writes or step.empties)]
    after = [
        step
        for step in sorted(later, key=lambda step: step.phase)
        if (touches(step, job) if step.empties else shares_files(step, job))
    ]
    if after and not (after[0].is_random and after[0].writes):
        yield Mistake(
            f"{after[0].name} follows sprandom",
            (job.name,),
            message="Sequential writes or trims after sprandom destroy the state that it prepared",
            advice="start the measured random writes right after it",
        )


CHECK = DoctorCheck(
    "sprandom",
    "warning",
    "sprandom reaches the steady state of random writes in one pass only if its options match "
    "the drive",
    "use one job on the whole empty drive, with the drive's over-provisioning",
    "fio pull requests 1954, 2044, 2082; fio issue 2043",
    {"fio job": _of_jobs},
)
