"""Check of storage layers between the benchmark and the drive that write more than it does."""

from __future__ import annotations

import re

from writeamp.drives.doctor.finding import DoctorCheck, Judgements, Mistake, NotJudged
from writeamp.drives.doctor.inputs import ResultDocument
from writeamp.fio.job import PAST_THE_CACHE, FioJob
from writeamp.fio.job_file import FioJobs

_STACKED = re.compile(r"/dev/(loop|zd|zvol/)|.*\.(qcow2?|vmdk|vdi|vhdx?)$")
_MAPPED = re.compile(r"/dev/(mapper/|dm-|md|bcache|drbd)")
_MATERIAL = 1.5


def _of_jobs(fio: FioJobs) -> Judgements:
    for job in fio.writers:
        stacked = [file for file in job.files if _STACKED.match(file)]
        mapped = [file for file in job.files if _MAPPED.match(file)]
        if stacked:
            yield Mistake(f"{', '.join(stacked)} is on a file system", (job.name,))
        elif mapped:
            yield Mistake(
                f"{', '.join(mapped)} consists of other devices", (job.name,), severity="note"
            )
        else:
            yield from _of_files(job)


def _of_files(job: FioJob) -> Judgements:
    """Yield a job that writes to files, which the file system reorders on the drive."""
    directory = job.options.get("directory")
    files = [file for file in job.files if file not in job.devices]
    if job.engine in PAST_THE_CACHE or "ioengine" in job.unknown:
        return
    if "filename" in job.unknown:
        if files:
            yield NotJudged(
                f"it is unknown whether filename={job.options['filename']} is a device or a file",
                (job.name,),
            )
    elif files or directory:
        named = ", ".join(files) or directory
        yield Mistake(f"{named} is on a file system", (job.name,), severity="note")


def _of_result(result: ResultDocument) -> Judgements:
    layers = result.document.get("layers")
    factors = layers.get("factors") if isinstance(layers, dict) else None
    factor = factors.get("file_system") if isinstance(factors, dict) else None
    if isinstance(factor, int | float) and factor > _MATERIAL:
        yield Mistake(
            f"the file system writes {factor:.3g} times the bytes of the programs", severity="note"
        )


CHECK = DoctorCheck(
    "stacked-storage",
    "warning",
    "There are layers between the benchmark and the drive (a file system, an image, RAID). They "
    "write more than the benchmark, to other addresses",
    "write to the drive itself, or count the bytes of each layer, as `writeamp serve --mount` does",
    "incus issue 3680; docs/virtual-ssd.md",
    {"fio job": _of_jobs, "result": _of_result},
)
