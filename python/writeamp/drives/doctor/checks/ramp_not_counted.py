"""Check of a ramp that fio leaves out and the drive's counters do not."""

from __future__ import annotations

from writeamp.drives.doctor.finding import DoctorCheck, Judgements, Mistake
from writeamp.drives.doctor.fio.job_file import FioJobs
from writeamp.drives.doctor.inputs import Several
from writeamp.drives.doctor.written import is_beyond, written_and_counted

_MATERIAL = 0.05


def _of_jobs(fio: FioJobs) -> Judgements:
    for job in fio.writers:
        if job.seconds("ramp_time"):
            yield Mistake(f"ramp_time={job.options['ramp_time']}", (job.name,), severity="note")


def _of_all(several: Several) -> Judgements:
    for fio, counted, factor in written_and_counted(several):
        ramps = [one.name for one in fio.writers if one.seconds("ramp_time")]
        if ramps and is_beyond(counted, fio.written_bytes(), _MATERIAL):
            yield Mistake(
                f"ramp_time is set, and the drive counted {factor:.4g} times the bytes that fio "
                "says it wrote",
                tuple(ramps),
            )


CHECK = DoctorCheck(
    "ramp-not-counted",
    "warning",
    "fio leaves the writes of ramp_time out of its result, and the drive counts them: flash bytes "
    "of the counters over host bytes of fio are too many",
    "take host bytes and flash bytes from the counters alone, or a snapshot after the ramp",
    "fio's HOWTO (ramp_time)",
    {"fio job": _of_jobs, "several": _of_all},
)
