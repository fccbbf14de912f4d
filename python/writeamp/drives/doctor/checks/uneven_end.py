"""Check of a span that is not a whole number of blocks, and of writes until it is full."""

from __future__ import annotations

from writeamp.drives.doctor.finding import DoctorCheck, Judgements, Mistake
from writeamp.fio.job_file import FioJobs

# An incomplete last block above this share of the span gives a warning, otherwise a note.
_MATERIAL = 0.01


def _of_jobs(fio: FioJobs) -> Judgements:
    for job in fio.writers:
        span, (low, high) = job.whole_span_bytes, job.write_blocks
        if job.has("fill_device"):
            yield Mistake(
                "fill_device",
                (job.name,),
                message="The job ends when the drive is full: its amount depends on the drive",
                advice="set size or io_size, so that runs can be compared",
                severity="warning" if job.is_random else "note",
            )
        elif span and low == high and span % high:
            rest = span % high
            yield Mistake(
                f"the span of {span:,} bytes holds {span // high:,} blocks of {high:,} bytes, and "
                f"{rest:,} bytes remain",
                (job.name,),
                severity="warning" if rest > _MATERIAL * span else "note",
            )


CHECK = DoctorCheck(
    "uneven-end",
    "note",
    "The block size does not divide the span: the end of the span is never written",
    "use a size that is a multiple of the block size",
    "fio's HOWTO (size, fill_device)",
    {"fio job": _of_jobs},
)
