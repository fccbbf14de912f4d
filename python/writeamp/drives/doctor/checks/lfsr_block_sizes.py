"""Check of an LFSR with blocks of several sizes."""

from __future__ import annotations

from writeamp.drives.doctor.finding import DoctorCheck, Judgements, Mistake
from writeamp.drives.doctor.fio.job_file import FioJobs


def _of_jobs(fio: FioJobs) -> Judgements:
    for job in fio.writers:
        low, high = job.write_blocks
        lfsr = job.options.get("random_generator", "").strip() == "lfsr"
        if job.is_random and lfsr and low != high:
            yield Mistake(
                f"random_generator=lfsr, blocks of {low:,} to {high:,} bytes", (job.name,)
            )


CHECK = DoctorCheck(
    "lfsr-block-sizes",
    "warning",
    "An LFSR remembers no written block: with several block sizes it writes some bytes again "
    "before others at all",
    "give one block size, or leave random_generator out",
    "fio's HOWTO (random_generator)",
    {"fio job": _of_jobs},
)
