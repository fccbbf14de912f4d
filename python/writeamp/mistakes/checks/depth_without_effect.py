"""Check of a queue depth that the engine does not have."""

from __future__ import annotations

from collections.abc import Iterator

from writeamp.mistakes.finding import Check, Found
from writeamp.mistakes.fio.job import SYNCHRONOUS
from writeamp.mistakes.fio.job_file import FioJobs


def _of_jobs(fio: FioJobs) -> Iterator[Found]:
    for job in fio.jobs:
        depth = job.count("iodepth", 1)
        offload = job.options.get("io_submit_mode", "").strip() == "offload"
        if depth <= 1 or offload:
            continue
        if job.engine in SYNCHRONOUS:
            named = "" if "ioengine" in job.options else ", the default"
            yield Found(f"iodepth={depth} with ioengine={job.engine}{named}", (job.name,))
        elif job.engine == "libaio" and job.is_buffered and "direct" not in job.unknown:
            yield Found(f"iodepth={depth} with ioengine=libaio and no direct=1", (job.name,))


CHECK = Check(
    "depth-without-effect",
    "warning",
    "The engine answers each request before it takes the next: iodepth has no effect, and the "
    "drive sees a depth of 1",
    "set ioengine=libaio or io_uring, with direct=1, or use numjobs",
    "fio's HOWTO (iodepth, ioengine)",
    {"fio job": _of_jobs},
)
