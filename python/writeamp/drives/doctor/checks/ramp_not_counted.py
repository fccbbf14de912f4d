"""Check of a ramp that the drive's counters include but fio's result does not."""

from __future__ import annotations

from writeamp.drives.doctor.finding import DoctorCheck, Judgements, Mistake
from writeamp.drives.doctor.inputs import Several
from writeamp.drives.doctor.written import is_beyond, written_and_counted
from writeamp.fio.job_file import FioJobs

_MATERIAL = 0.05


def _of_jobs(fio: FioJobs) -> Judgements:
    for job in fio.writers:
        if job.seconds("ramp_time"):
            yield Mistake(f"ramp_time={job.options['ramp_time']}", (job.name,), severity="note")


def _of_all(several: Several) -> Judgements:
    for fio, counted, factor in written_and_counted(several):
        ramps = [writer.name for writer in fio.writers if writer.seconds("ramp_time")]
        if ramps and is_beyond(counted, fio.written_bytes(), _MATERIAL):
            yield Mistake(
                f"ramp_time is set, and the drive counted {factor:.4g} times the bytes that fio "
                "reports",
                tuple(ramps),
            )


CHECK = DoctorCheck(
    "ramp-not-counted",
    "warning",
    "fio's result excludes the writes of ramp_time, but the drive counts them: flash bytes "
    "of the counters / host bytes of fio is too high",
    "use host bytes and flash bytes from the counters alone, or a snapshot after the ramp",
    "fio's HOWTO (ramp_time)",
    {"fio job": _of_jobs, "several": _of_all},
)
