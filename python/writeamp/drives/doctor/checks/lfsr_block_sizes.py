"""Check of an LFSR with several block sizes."""

from __future__ import annotations

from writeamp.drives.doctor.finding import DoctorCheck, Judgements, Mistake
from writeamp.fio.job_file import FioJobs


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
    "An LFSR does not track written blocks: with several block sizes it rewrites some bytes "
    "before it has written others",
    "use one block size, or remove random_generator",
    "fio's HOWTO (random_generator)",
    {"fio job": _of_jobs},
)
