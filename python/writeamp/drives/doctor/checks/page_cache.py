"""Check of writes that stay in the page cache."""

from __future__ import annotations

from writeamp.drives.doctor.finding import DoctorCheck, Judgements, Mistake, NotJudged
from writeamp.drives.doctor.inputs import Several
from writeamp.drives.doctor.unknowns import unknown_size, unknown_speed
from writeamp.drives.doctor.written import written_and_counted
from writeamp.fio.job import SYNCING, SYNCING_AT_THE_END, FioJob
from writeamp.fio.job_file import FioJobs

# If the host counter shows less than this share of fio's bytes, the page cache has absorbed writes.
_LEAST_SHARE = 0.95
# Largest share of writes between two syncs that may rewrite an address. The next line has the
# largest numbers of writes between two syncs if the span is unknown, and if some addresses are hot.
_MOST_REWRITTEN = 0.05
_FEW_WRITES, _FEW_SKEWED_WRITES = 128, 8


def _of_jobs(fio: FioJobs) -> Judgements:
    for job in fio.writers:
        unknown = job.unknown.keys() & {*SYNCING, *SYNCING_AT_THE_END}
        if not job.is_buffered or "direct" in job.unknown or _syncs_often(job):
            continue
        if unknown:
            named = ", ".join(f"{name}={job.options[name]}" for name in sorted(unknown))
            yield NotJudged(f"{named} is unknown", (job.name,))
        elif job.syncs_at_the_end or job.sync_interval < float("inf"):
            yield from _of_rare_syncs(job)
        else:
            yield Mistake(f"ioengine={job.engine}, no direct=1 and no fsync", (job.name,))


def _syncs_often(job: FioJob) -> bool:
    """Return whether almost no address is rewritten between two syncs."""
    writes, span = job.sync_interval, job.whole_span_bytes
    if writes <= 1:
        return True
    if not job.draws_evenly:
        return writes <= _FEW_SKEWED_WRITES
    if span is None:
        return writes <= _FEW_WRITES
    return writes * job.write_blocks[1] <= _MOST_REWRITTEN * span


def _of_rare_syncs(job: FioJob) -> Judgements:
    """Yield addresses that are overwritten in memory before they reach the drive."""
    moved = job.spans_moved
    comes_in_passes = job.has_map or not job.is_random
    is_shared = job.copies > 1 and not job.has_own_places
    # Independent draws overwrite few addresses until they have covered part of the span.
    most = 1.0 if comes_in_passes else _MOST_REWRITTEN if job.draws_evenly else 0.0
    if moved.high <= most and not is_shared:
        return
    if moved.low <= most and comes_in_passes and not is_shared:
        is_timed = job.has_runtime and job.whole_span_bytes
        yield unknown_speed(job, job.copies) if is_timed else unknown_size(job)
        return
    syncs = ", ".join(
        f"{name}={job.options[name]}"
        for name in (*SYNCING, *SYNCING_AT_THE_END)
        if job.options.get(name, "0") not in {"0", "none"}
    )
    yield Mistake(
        f"no direct=1, {syncs}, and addresses are rewritten before the sync",
        (job.name,),
        message="Writes go through the page cache, which merges overwrites: the drive gets the "
        "last version of each address only, once per sync",
        advice="set direct=1; or sync=1 or fsync=1, if your program does so",
    )


def _of_all(several: Several) -> Judgements:
    for fio, counted, factor in written_and_counted(several):
        is_buffered = any(job.is_buffered for job in fio.writers)
        if is_buffered and factor < _LEAST_SHARE:
            yield Mistake(
                f"fio wrote {fio.written_bytes():,} bytes, but the drive's counter rose by "
                f"{float(counted.nominal):,.0f} bytes"
            )


CHECK = DoctorCheck(
    "page-cache",
    "warning",
    "Writes go through the page cache: it merges and reorders writes, and may keep them beyond "
    "the end of the run",
    "set direct=1; or for a program that writes through the cache, fsync=1, or end_fsync=1 if "
    "no address is written twice",
    "fio's HOWTO (direct, buffered)",
    {"fio job": _of_jobs, "several": _of_all},
)
