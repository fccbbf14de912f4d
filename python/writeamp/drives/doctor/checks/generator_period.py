"""Check of a 32-bit random generator for more than 2**32 blocks."""

from __future__ import annotations

from writeamp.drives.doctor.finding import DoctorCheck, Judgements, Mistake
from writeamp.fio.job_file import FioJobs
from writeamp.fio.output import FioOutput

_NUMBERS = 2**32


def _of_jobs(fio: FioJobs) -> Judgements:
    for job in fio.writers:
        named = job.options.get("random_generator", "tausworthe").strip()
        span = job.whole_span_bytes
        if not job.is_random or job.is_sprandom or named != "tausworthe" or span is None:
            continue
        blocks = span // max(1, job.write_blocks[0])
        if blocks > _NUMBERS:
            yield Mistake(
                f"the span has {blocks:,} blocks, but the generator has 2^32 numbers", (job.name,)
            )


def _of_output(fio: FioOutput) -> Judgements:
    if "exceeds 32-bit tausworthe" in fio.preface:
        yield Mistake("fio warned: exceeds 32-bit tausworthe random generator")


CHECK = DoctorCheck(
    "generator-period",
    "warning",
    "The default random generator has 32 bits, fewer numbers than blocks: many blocks are never "
    "written. fio without the fix of its issue 2036 reports a switch to tausworthe64, but does "
    "not switch",
    "set random_generator=tausworthe64",
    "fio issues 2036, 2038",
    {"fio job": _of_jobs, "fio output": _of_output},
)
