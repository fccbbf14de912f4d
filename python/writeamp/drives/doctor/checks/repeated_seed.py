"""Check of two runs of fio with the same random addresses."""

from __future__ import annotations

from itertools import combinations

from writeamp.drives.doctor.finding import DoctorCheck, Judgements, Mistake
from writeamp.drives.doctor.inputs import Several
from writeamp.drives.doctor.job_loads import Request, changed, of_job
from writeamp.fio.job import FioJob
from writeamp.fio.job_file import FioJobs, shares_files
from writeamp.fio.output import FioOutput


def _of_all(several: Several) -> Judgements:
    fio = several.of(FioJobs)
    for kind in (FioOutput, FioJobs):
        runs = [jobs for jobs in fio if type(jobs) is kind]
        calls = [(run, job) for run in runs for job in run.writers if job.is_random]
        for (run, job), (other_run, other) in combinations(calls, 2):
            if _draws_alike(job, other):
                names = dict.fromkeys((run.name, other_run.name))
                where = " and ".join(names)
                yield Mistake(
                    f"{job.name} and {other.name} of {where} are both job {job.number} of their "
                    f"call of fio, with the same seed, on {', '.join(job.files)}",
                    (job.name, other.name),
                    now=of_job(run, job),
                    fixed=_with_other_seeds(run, job),
                )


def _of_jobs(fio: FioJobs) -> Judgements:
    random = [job for job in fio.writers if job.is_random and _is_fixed(job)]
    for job in random:
        if job.is_repeated and not job.unknown:
            yield Mistake(
                "a shell loop runs fio repeatedly with one seed",
                (job.name,),
                now=of_job(fio, job),
                fixed=_with_other_seeds(fio, job),
            )
    unseeded = [job for job in random if not job.is_repeated and "randseed" not in job.options]
    if any(shares_files(*pair) for pair in combinations(unseeded, 2)):
        yield Mistake(
            "several jobs write random addresses of one file with the same seeds in each run",
            tuple(job.name for job in unseeded),
            message="Another run of these jobs writes the same random addresses in the same order",
            severity="note",
        )


def _with_other_seeds(fio: FioJobs, job: FioJob) -> Request:
    return changed(fio, job, ("randseed", "allrandrepeat"), {"randrepeat": "0"})


def _is_fixed(job: FioJob) -> bool:
    """Return whether the seed of a job is the same in each run of fio."""
    repeats = job.has("randrepeat") or "randrepeat" not in job.options
    return repeats or job.has("allrandrepeat") or "randseed" in job.options


def _draws_alike(job: FioJob, other: FioJob) -> bool:
    """Return whether two jobs write the same random addresses of the same files.

    They do if their seeds are fixed, and their options and their numbers within their calls of fio
    are equal.
    """
    keys = (
        *("randseed", "size", "offset", "bs", "bsrange", "bssplit", "random_generator", "rw"),
        *("norandommap", "random_distribution", "rwmixread", "rwmixwrite"),
    )
    same = all(job.options.get(key) == other.options.get(key) for key in keys)
    is_other_call = job.number == other.number
    are_fixed = _is_fixed(job) and _is_fixed(other)
    return is_other_call and same and are_fixed and shares_files(job, other)


CHECK = DoctorCheck(
    "repeated-seed",
    "warning",
    "Two runs write the same random addresses in the same order: the second invalidates whole "
    "flash blocks together",
    "set randrepeat=0 (fio 3.33 uses randseed only with it)",
    "fio's HOWTO (randrepeat, randseed); fio issues 99 and 1502",
    {"fio job": _of_jobs, "several": _of_all},
)
