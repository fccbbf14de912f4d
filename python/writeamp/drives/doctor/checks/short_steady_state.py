"""Check of fio's own search for a steady state."""

from __future__ import annotations

from writeamp.drives.doctor.finding import DoctorCheck, Judgements, Mistake
from writeamp.drives.doctor.fio.job_file import FioJobs
from writeamp.drives.doctor.fio.output import FioOutput

# Caches of SLC take minutes to fill; SNIA compares five rounds of a minute.
_SHORT_S = 60.0


def _of_jobs(fio: FioJobs) -> Judgements:
    for job in fio.writers:
        if "steadystate" not in job.options:
            continue
        asked = f"steadystate={job.options['steadystate']}"
        window_s = job.seconds("steadystate_duration")
        if not window_s:
            yield Mistake(f"{asked} without steadystate_duration, which turns it off", (job.name,))
        elif window_s < _SHORT_S:
            yield Mistake(f"{asked} within {window_s:g} s", (job.name,))
        elif not job.is_timed and not job.hides_flags:
            yield Mistake(f"{asked} without time_based: the job ends with its size", (job.name,))


def _of_output(fio: FioOutput) -> Judgements:
    for job, copies in zip(fio.jobs, fio.results, strict=True):
        states = [one.get("steadystate") for one in copies]
        if job.writes and any(isinstance(one, dict) and one.get("attained") == 0 for one in states):
            yield Mistake(
                "steadystate: attained is 0",
                (job.name,),
                message="fio says itself that the job did not become steady",
                advice="let it run longer, or begin with a drive that is aged",
            )


CHECK = DoctorCheck(
    "short-steady-state",
    "warning",
    "The search for a steady state can end in the burst before the cache of the drive is full, or "
    "does not take place",
    "set time_based, a runtime of hours, and steadystate_duration of at least 60 s (SNIA: 300 s)",
    "fio issues 687, 690, 1510",
    {"fio job": _of_jobs, "fio output": _of_output},
)
