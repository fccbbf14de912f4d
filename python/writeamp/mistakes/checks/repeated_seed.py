"""Check of two runs of fio that draw the same random addresses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations

from writeamp.mistakes.finding import Check, Found
from writeamp.mistakes.fio.job import Job
from writeamp.mistakes.fio.job_file import FioJobs, shares_files
from writeamp.mistakes.fio.output import FioOutput
from writeamp.mistakes.inputs import Several

_LOOP = re.compile(r"\b(for|while|until)\b[^#]*?\bdo\b[^#]*?\bfio\s")


def _of_all(several: Several) -> Iterator[Found]:
    fio = several.of(FioJobs)
    for kind in (FioOutput, FioJobs):
        runs = [one for one in fio if type(one) is kind]
        calls = [(one.name, job) for one in runs for job in one.writers if job.is_random]
        for (name, job), (other_name, other) in combinations(calls, 2):
            if _draws_alike(job, other):
                where = name if name == other_name else f"{name} and {other_name}"
                yield Found(
                    f"{job.name} and {other.name} of {where} are job {job.number} of their calls, "
                    f"with one seed, on {', '.join(job.files)}",
                    (job.name, other.name),
                    now=("same_order",) if job.has_map else None,
                    fixed=("other_order",) if job.has_map else None,
                )


def _of_jobs(fio: FioJobs) -> Iterator[Found]:
    if not _LOOP.search(fio.commands):
        return
    for job in fio.writers:
        varies = {"size", "offset", "randseed", "filename"} & job.unknown.keys()
        if job.is_random and job.is_repeatable and not varies:
            yield Found(
                "a loop of the shell runs fio again and again with one seed",
                (job.name,),
                now=("same_order",) if job.has_map else None,
                fixed=("other_order",) if job.has_map else None,
            )


def _draws_alike(one: Job, other: Job) -> bool:
    """Return whether two jobs draw the same: their seeds follow from their number alone."""
    seeds = {job.options.get("randseed", "") for job in (one, other)}
    repeats = all(job.has("randrepeat") or "randrepeat" not in job.options for job in (one, other))
    keys = ("size", "offset", "bs", "bsrange", "bssplit", "random_generator", "norandommap",
            "random_distribution", "rw", "rwmixread", "rwmixwrite")  # fmt: skip
    same = all(one.options.get(key) == other.options.get(key) for key in keys)
    is_other_call = one.number == other.number
    return is_other_call and same and repeats and len(seeds) == 1 and shares_files(one, other)


CHECK = Check(
    "repeated-seed",
    "warning",
    "Two runs write the same random addresses in the same order: the second finds whole blocks "
    "invalid",
    "set randrepeat=0, or another randseed in each run",
    "fio's HOWTO (randrepeat, randseed); fio issue 99",
    {"fio job": _of_jobs, "several": _of_all},
)
