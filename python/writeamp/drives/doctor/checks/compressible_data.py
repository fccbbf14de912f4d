"""Check of data that a drive can compress or deduplicate."""

from __future__ import annotations

from collections.abc import Iterator

from writeamp.drives.doctor.finding import DoctorCheck, Judgements, Mistake
from writeamp.drives.doctor.inputs import Counters
from writeamp.fio.job import FioJob
from writeamp.fio.job_file import FioJobs, fills


def _of_jobs(fio: FioJobs) -> Judgements:
    for job in fio.writers:
        settings = ", ".join(_said(job))
        if settings:
            yield Mistake(settings, (job.name,))
        zeros = [
            other.name
            for other in fio.writers_before(job)
            if other not in fio.jobs
            and other.has("zero_buffers")
            and fills(other, job) is not False
        ]
        if zeros:
            yield Mistake(
                zeros[-1],
                (job.name,),
                message="The drive was filled with zeros. A drive that compresses, deduplicates or "
                "unmaps zeros stays practically empty",
                advice="fill it with random data: the default of fio, or dd if=/dev/urandom",
                severity="note",
            )


def _said(job: FioJob) -> Iterator[str]:
    if job.has("zero_buffers"):
        yield "zero_buffers"
    for name in ("buffer_pattern", "verify_pattern"):
        if name in job.options:
            yield f"{name}={job.options[name]}"
    for name in ("buffer_compress_percentage", "dedupe_percentage"):
        if job.count(name, 0):
            yield f"{name}={job.options[name]}"
    if job.options.get("scramble_buffers", "1").strip() == "0" and not job.has("refill_buffers"):
        yield "scramble_buffers=0 without refill_buffers"


def _of_counters(counters: Counters) -> Judgements:
    for drive in counters.answers:
        if drive.facts.compresses and drive.wa is not None and drive.wa < 1:
            yield Mistake(
                f"{drive.facts.family or drive.facts.model} compresses data, and its WA is "
                f"{drive.wa:.4g}",
                severity="note",
            )


CHECK = DoctorCheck(
    "compressible-data",
    "warning",
    "The data is compressible or repeated: a drive that compresses or "
    "deduplicates writes less, and its WA is valid for this data only",
    "set refill_buffers (random data), or the compression ratio of your data, and report it",
    "fio's HOWTO (zero_buffers, dedupe_percentage); fio issue 463",
    {"fio job": _of_jobs, "counters": _of_counters},
)
