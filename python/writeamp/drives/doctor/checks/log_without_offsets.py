"""Check of fio logs with means, which have no offsets or block sizes."""

from __future__ import annotations

from writeamp.drives.doctor.finding import DoctorCheck, Judgements, Mistake
from writeamp.fio.job_file import FioJobs
from writeamp.fio.output import FioOutput


def _of_jobs(fio: FioJobs) -> Judgements:
    for job in fio.jobs:
        mean_ms = job.count("log_avg_msec", 0)
        logs = [name for name in job.options if name.startswith("write_") and name.endswith("_log")]
        if mean_ms and job.has("log_offset"):
            yield Mistake(f"log_avg_msec={mean_ms} with log_offset", (job.name,))
        elif mean_ms and job.is_random and logs and len(set(job.write_blocks)) > 1:
            yield Mistake(
                f"log_avg_msec={mean_ms} with {logs[0]} and several block sizes", (job.name,)
            )


def _of_output(fio: FioOutput) -> Judgements:
    if fio.preface:
        first = fio.preface.splitlines()[0][:120]
        yield Mistake(
            f"the JSON follows after {first!r}",
            message="There is text before the JSON document, which other programs may reject",
            advice="write it to a file: --output=FILE --output-format=json",
            severity="note",
        )


CHECK = DoctorCheck(
    "log-without-offsets",
    "warning",
    "With log_avg_msec, fio logs means of many requests, with 0 as their block size and offset",
    "remove log_avg_msec if single requests matter; otherwise remove log_offset",
    "fio's HOWTO (log_avg_msec)",
    {"fio job": _of_jobs, "fio output": _of_output},
)
