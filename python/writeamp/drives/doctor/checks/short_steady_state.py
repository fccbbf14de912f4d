"""Check of fio's own detection of a steady state."""

from __future__ import annotations

from writeamp.drives.doctor.finding import DoctorCheck, Judgements, Mistake
from writeamp.fio.job_file import FioJobs
from writeamp.fio.output import FioOutput

# SLC caches take minutes to fill; SNIA compares five rounds of a minute.
_SHORT_S = 60.0


def _of_jobs(fio: FioJobs) -> Judgements:
    for job in fio.writers:
        if "steadystate" not in job.options:
            continue
        setting = f"steadystate={job.options['steadystate']}"
        window_s = job.seconds("steadystate_duration")
        if not window_s:
            yield Mistake(f"{setting} without steadystate_duration, which disables it", (job.name,))
        elif window_s < _SHORT_S:
            yield Mistake(f"{setting} with steadystate_duration={window_s:g} s", (job.name,))
        elif not job.is_timed and not job.hides_flags:
            yield Mistake(f"{setting} without time_based: the job ends with its size", (job.name,))


def _of_output(fio: FioOutput) -> Judgements:
    for job, copies in zip(fio.jobs, fio.results, strict=True):
        states = [copy.get("steadystate") for copy in copies]
        if job.writes and any(
            isinstance(state, dict) and state.get("attained") == 0 for state in states
        ):
            yield Mistake(
                "steadystate: attained is 0",
                (job.name,),
                message="fio reports that the job did not become steady",
                advice="run longer, or start with an aged drive",
            )


CHECK = DoctorCheck(
    "short-steady-state",
    "warning",
    "The detection of a steady state may end during the burst before the drive's cache is full, or "
    "is disabled",
    "set time_based, a runtime of hours, and steadystate_duration of at least 60 s (SNIA: 300 s)",
    "fio issues 687, 690, 1510",
    {"fio job": _of_jobs, "fio output": _of_output},
)
