"""Check of fio versions with a map of written blocks that prefers some blocks."""

from __future__ import annotations

from writeamp.drives.doctor.finding import DoctorCheck, Judgements, Mistake
from writeamp.fio.job_file import FioJobs
from writeamp.fio.output import FioOutput

# First version of fio with a correct map: 3.9 of August 2018 (pull request 659).
_MENDED = (3, 9)


def _of_jobs(fio: FioJobs) -> Judgements:
    for job in fio.writers:
        striped = [file for file in job.files if file.startswith("/dev/md")]
        lfsr = job.options.get("random_generator", "").strip() == "lfsr"
        if job.has_map and striped and not lfsr and not isinstance(fio, FioOutput):
            yield Mistake(
                f"{job.rw} with a map on {', '.join(striped)}", (job.name,), severity="note"
            )


def _of_output(fio: FioOutput) -> Judgements:
    if fio.version is None or fio.version >= _MENDED:
        return
    for job in fio.writers:
        lfsr = job.options.get("random_generator", "").strip() == "lfsr"
        if job.has_map and not lfsr:
            yield Mistake(
                f"fio {fio.version[0]}.{fio.version[1]}, {job.rw} with a map", (job.name,)
            )


CHECK = DoctorCheck(
    "random-map-skew",
    "warning",
    "Up to fio 3.8 the map of written blocks prefers addresses with low bits of 0: writes are not "
    "uniform, and one drive of a striped array gets more of them",
    "use a newer fio, or set norandommap",
    "fio issue 658 and pull request 659",
    {"fio job": _of_jobs, "fio output": _of_output},
)
