"""Check of a queue depth that the engine does not have."""

from __future__ import annotations

from writeamp.drives.doctor.finding import DoctorCheck, Judgements, Mistake
from writeamp.drives.doctor.fio.job import SYNCHRONOUS, FioJob
from writeamp.drives.doctor.fio.job_file import FioJobs

# Engines for which an fsync is a request like others.
_QUEUED_SYNCS = {"io_uring", "posixaio"}


def _of_jobs(fio: FioJobs) -> Judgements:
    for job in fio.jobs:
        depth = job.count("iodepth", 1)
        offload = job.options.get("io_submit_mode", "").strip() == "offload"
        if depth <= 1 or offload:
            continue
        if job.engine in SYNCHRONOUS:
            named = "" if "ioengine" in job.options else ", the default"
            yield Mistake(f"iodepth={depth} with ioengine={job.engine}{named}", (job.name,))
        elif job.engine == "libaio" and job.is_buffered and "direct" not in job.unknown:
            yield Mistake(f"iodepth={depth} with ioengine=libaio and no direct=1", (job.name,))
        elif job.writes and job.fsync_interval < depth:
            yield from _of_fsyncs(job, depth)


def _of_fsyncs(job: FioJob, depth: int) -> Judgements:
    """Yield what fsync does to the depth, as fio 3.33 was seen to call it; sync=1 does nothing."""
    writes = int(job.fsync_interval)
    often = "each write" if writes == 1 else f"every {writes} writes"
    asked = f"iodepth={depth} with {job.engine} and a sync after {often}"
    if job.engine == "libaio":
        yield Mistake(
            asked,
            (job.name,),
            message="libaio waits in each fsync() before it takes the next request: the drive sees "
            f"a depth of at most {writes}, although fio says that it kept iodepth",
            advice="leave iodepth at 1 to say what is measured, use numjobs for more writers, or "
            "sync=1 in place of fsync, which keeps the depth",
            severity="warning" if 4 * writes <= depth else "note",
        )
    elif job.engine in _QUEUED_SYNCS:
        yield Mistake(
            asked,
            (job.name,),
            message="This engine queues each fsync as one request of iodepth: fewer of them are "
            "writes, and an fsync does not wait for writes that are under way",
            advice="use sync=1 if each write has to be durable when it is answered",
            severity="note",
        )


CHECK = DoctorCheck(
    "depth-without-effect",
    "warning",
    "The engine answers each request before it takes the next: iodepth has no effect, and the "
    "drive sees a depth of 1",
    "set ioengine=libaio or io_uring, with direct=1, or use numjobs",
    "fio's HOWTO (iodepth, ioengine)",
    {"fio job": _of_jobs},
)
