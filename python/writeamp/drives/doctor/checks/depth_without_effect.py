"""Check of a queue depth without effect on the engine."""

from __future__ import annotations

from writeamp.drives.doctor.finding import DoctorCheck, Judgements, Mistake
from writeamp.fio.job import SYNCHRONOUS, FioJob
from writeamp.fio.job_file import FioJobs

# Engines that queue an fsync like other requests.
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
    """Yield the effect of fsync on the queue depth, as observed with fio 3.33."""
    writes = int(job.fsync_interval)
    often = "each write" if writes == 1 else f"every {writes} writes"
    setting = f"iodepth={depth} with {job.engine} and a sync after {often}"
    if job.engine == "libaio":
        yield Mistake(
            setting,
            (job.name,),
            message="libaio waits in each fsync() before the next request: the drive sees "
            f"a depth of at most {writes}, although fio reports the full iodepth",
            advice="set iodepth to 1 to state the real depth, use numjobs for more writers, or "
            "use sync=1 instead of fsync, which keeps the depth",
            severity="warning" if 4 * writes <= depth else "note",
        )
    elif job.engine in _QUEUED_SYNCS:
        yield Mistake(
            setting,
            (job.name,),
            message="This engine queues each fsync as one request of iodepth: fewer requests are "
            "writes, and an fsync does not wait for writes in flight",
            advice="use sync=1 if each write must be durable on completion",
            severity="note",
        )


CHECK = DoctorCheck(
    "depth-without-effect",
    "warning",
    "The engine completes each request before it accepts the next: iodepth has no effect, and the "
    "drive sees a depth of 1",
    "set ioengine=libaio or io_uring, with direct=1, or use numjobs",
    "fio's HOWTO (iodepth, ioengine)",
    {"fio job": _of_jobs},
)
