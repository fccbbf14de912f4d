"""Check of two runs of fio that draw the same random addresses."""

from __future__ import annotations

from itertools import combinations

from writeamp.drives.doctor.finding import DoctorCheck, Judgements, Mistake
from writeamp.drives.doctor.fio.job import FioJob
from writeamp.drives.doctor.fio.job_file import FioJobs, shares_files
from writeamp.drives.doctor.fio.output import FioOutput
from writeamp.drives.doctor.inputs import Several


def _of_all(several: Several) -> Judgements:
    fio = several.of(FioJobs)
    for kind in (FioOutput, FioJobs):
        runs = [one for one in fio if type(one) is kind]
        calls = [(one.name, job) for one in runs for job in one.writers if job.is_random]
        for (name, job), (other_name, other) in combinations(calls, 2):
            if _draws_alike(job, other):
                where = name if name == other_name else f"{name} and {other_name}"
                yield Mistake(
                    f"{job.name} and {other.name} of {where} are job {job.number} of their calls, "
                    f"with one seed, on {', '.join(job.files)}",
                    (job.name, other.name),
                    now=("same_order",) if job.has_map else None,
                    fixed=("other_order",) if job.has_map else None,
                )


def _of_jobs(fio: FioJobs) -> Judgements:
    random = [one for one in fio.writers if one.is_random and _is_fixed(one)]
    for job in random:
        if job.is_repeated and not job.unknown:
            yield Mistake(
                "a loop of the shell runs fio again and again with one seed",
                (job.name,),
                now=("same_order",) if job.has_map else None,
                fixed=("other_order",) if job.has_map else None,
            )
    unseeded = [one for one in random if not one.is_repeated and "randseed" not in one.options]
    if any(shares_files(*pair) for pair in combinations(unseeded, 2)):
        yield Mistake(
            "several jobs write random addresses of one file with seeds that are the same in each "
            "run",
            tuple(one.name for one in unseeded),
            message="Another run of these jobs writes the same random addresses in the same order",
            severity="note",
        )


def _is_fixed(job: FioJob) -> bool:
    """Return whether the seed of a job is the same in each run of fio."""
    repeats = job.has("randrepeat") or "randrepeat" not in job.options
    return repeats or job.has("allrandrepeat") or "randseed" in job.options


def _draws_alike(one: FioJob, other: FioJob) -> bool:
    """Return whether two jobs draw the same: seeds follow from their number, and randseed."""
    keys = (
        *("randseed", "size", "offset", "bs", "bsrange", "bssplit", "random_generator", "rw"),
        *("norandommap", "random_distribution", "rwmixread", "rwmixwrite"),
    )
    same = all(one.options.get(key) == other.options.get(key) for key in keys)
    is_other_call = one.number == other.number
    are_fixed = _is_fixed(one) and _is_fixed(other)
    return is_other_call and same and are_fixed and shares_files(one, other)


CHECK = DoctorCheck(
    "repeated-seed",
    "warning",
    "Two runs write the same random addresses in the same order: the second finds whole blocks "
    "invalid",
    "set randrepeat=0 (fio 3.33 heeds randseed only with it)",
    "fio's HOWTO (randrepeat, randseed); fio issues 99 and 1502",
    {"fio job": _of_jobs, "several": _of_all},
)
