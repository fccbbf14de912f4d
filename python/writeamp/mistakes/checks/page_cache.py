"""Check of writes that stay in the page cache."""

from __future__ import annotations

from collections.abc import Iterator

from writeamp.mistakes.finding import Check, Found
from writeamp.mistakes.fio.job_file import FioJobs
from writeamp.mistakes.inputs import Several
from writeamp.mistakes.written import written_and_counted

# The host's counter is behind what fio wrote by more than this.
_LEAST_SHARE = 0.95


def _of_jobs(fio: FioJobs) -> Iterator[Found]:
    for job in fio.writers:
        if job.is_buffered and not job.syncs and "direct" not in job.unknown:
            yield Found(f"ioengine={job.engine}, no direct=1 and no fsync", (job.name,))


def _of_all(several: Several) -> Iterator[Found]:
    for fio, counted, factor in written_and_counted(several):
        is_buffered = any(one.is_buffered for one in fio.writers)
        if is_buffered and factor < _LEAST_SHARE:
            yield Found(
                f"fio wrote {fio.written_bytes():,} bytes, the drive's counter moved by "
                f"{float(counted.nominal):,.0f}"
            )


CHECK = Check(
    "page-cache",
    "warning",
    "Writes go through the page cache: it merges overwrites, reorders, and may keep them beyond "
    "the end of the run",
    "set direct=1; or for a program that writes through the cache, end_fsync=1 or fsync",
    "fio's HOWTO (direct, buffered)",
    {"fio job": _of_jobs, "several": _of_all},
)
