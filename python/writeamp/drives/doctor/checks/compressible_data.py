"""Check of data that a drive may store in less space."""

from __future__ import annotations

from collections.abc import Iterator

from writeamp.drives.doctor.finding import DoctorCheck, Judgements, Mistake
from writeamp.drives.doctor.fio.job import FioJob
from writeamp.drives.doctor.fio.job_file import FioJobs, fills
from writeamp.drives.doctor.inputs import Counters


def _of_jobs(fio: FioJobs) -> Judgements:
    for job in fio.writers:
        said = ", ".join(_said(job))
        if said:
            yield Mistake(said, (job.name,))
        zeros = [
            one.name
            for one in fio.before(job)
            if one not in fio.jobs and one.has("zero_buffers") and fills(one, job) is not False
        ]
        if zeros:
            yield Mistake(
                zeros[-1],
                (job.name,),
                message="The drive was filled with zeros: one that compresses, finds doubles or "
                "unmaps zeros stores next to nothing of it, and is as good as empty",
                advice="fill it with random data: fio does so by itself, or dd if=/dev/urandom",
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
    for one in counters.answers:
        if one.facts.compresses and one.wa is not None and one.wa < 1:
            yield Mistake(
                f"{one.facts.family or one.facts.model} compresses, and its WA is {one.wa:.4g}",
                severity="note",
            )


CHECK = DoctorCheck(
    "compressible-data",
    "warning",
    "The data can be compressed, or is the same again and again: a drive that compresses or finds "
    "doubles writes less, and its WA is that of this data alone",
    "set refill_buffers (random data), or the compression that your data has, and state it",
    "fio's HOWTO (zero_buffers, dedupe_percentage); fio issue 463",
    {"fio job": _of_jobs, "counters": _of_counters},
)
