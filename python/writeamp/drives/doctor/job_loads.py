"""Requests to simulate the load of fio jobs, as they are or with a mistake corrected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import gcd
from types import MappingProxyType
from typing import Any, TypeAlias

from writeamp.errors import WriteampError
from writeamp.fio.job import FioJob
from writeamp.fio.job_file import FioJobs, shares_files
from writeamp.fio.values import meant_size_of
from writeamp.fio.workload import load_of

# Name of a method of `SmallDrive`, and its arguments.
Request: TypeAlias = tuple[Any, ...]

# Pages of the small drive have 4 KiB; if all requests are larger, pages have their size, because
# erase units of real drives are much larger than requests.
_PAGE_BYTES = 4096
_MOST_PAGE_BYTES = 1 << 20
_NO_CHANGES: Mapping[str, str] = MappingProxyType({})
# Loads without a job: one random order in each pass, another order in each pass, and independent
# writes to the first share of the drive.
SAME_ORDER: Request = ("of_load", "fio:streams=stream()")
OTHER_ORDER: Request = ("of_load", "permutation")
UNIFORM: Request = ("of_load", "uniform")
FIRST_WRITES: Request = ("of_load", "uniform", None, None, "none", 1.0)


def uniform_in(share: float) -> Request:
    """Return the request for independent writes to a share of an otherwise empty drive."""
    stream = f"stream(map=0,seeding=fresh,size_share={min(share, 1.0)})"
    return ("of_load", f"fio:streams={stream}", None, None, "none")


def of_requests(bytes_of_each: int, offset: int, page_bytes: int) -> Request:
    """Return the request for independent writes of one size, offset from multiples of it.

    The simulated pages have `page_bytes`.
    """
    sizes = "/".join([str(bytes_of_each)] * 3)
    stream = f"map=0,seeding=fresh,least={sizes},most={sizes},align={sizes},offset={offset}"
    return ("of_load", f"fio:streams=stream({stream})", None, page_bytes)


def of_job(
    fio: FioJobs,
    job: FioJob,
    *,
    is_alone: bool = False,
    precondition: str = "full",
    spans: float | None = None,
    page_bytes: int | None = None,
) -> Request:
    """Return the request to simulate a job, with the jobs that write to its files meanwhile.

    Args:
        fio: all jobs of the input.
        job: job to simulate.
        is_alone: whether to leave out the other jobs.
        precondition: state of the drive before the job, "full" or "none" (empty).
        spans: number of times that each file is written; None for the steady state.
        page_bytes: size of the simulated pages; None: by the job's requests.
    """
    jobs = [
        other for other in fio.jobs if other is job or (not is_alone and _is_meanwhile(other, job))
    ]
    written = None if spans is None else spans * _span_share(fio, job)
    page_bytes = page_bytes or _page_bytes(jobs)
    loads = [_on_one_drive(each) for each in jobs]
    for place, load in enumerate(loads[1:], 1):
        loads[place] = replace(load, number=loads[place - 1].number + loads[place - 1].copies)
    try:
        text = load_of(FioJobs(fio.name, tuple(loads))).text
    except WriteampError as error:
        return ("refused", str(error))
    return ("of_load", text, _capacity(fio, job), page_bytes, precondition, written)


def corrected(
    fio: FioJobs,
    job: FioJob,
    *,
    is_alone: bool = False,
    page_bytes: int | None = None,
    without: tuple[str, ...] = (),
    changes: Mapping[str, str] = _NO_CHANGES,
) -> Request:
    """Return the request to simulate a job with changed options in the steady state.

    All random writes are drawn independently, as a repeated order would be another mistake.

    Args:
        fio: all jobs of the input.
        job: job to correct; jobs that write to its files meanwhile are changed too.
        is_alone: whether to leave out the other jobs.
        page_bytes: size of the simulated pages; None: by the job's requests.
        without: options to remove.
        changes: options to set.
    """
    without = (*without, "randseed", "allrandrepeat", "random_generator")
    changes = {"norandommap": "1", "randrepeat": "0", **changes}
    return changed(fio, job, without, changes, is_alone=is_alone, page_bytes=page_bytes)


def changed(
    fio: FioJobs, job: FioJob, without: tuple[str, ...], changes: Mapping[str, str], **how: Any
) -> Request:
    """Return the request to simulate a job with options removed and set; see `of_job`."""

    def options_of(each: FioJob) -> dict[str, str]:
        left = {name: value for name, value in each.options.items() if name not in without}
        return left | dict(changes)

    others = {
        each: replace(each, options=options_of(each))
        for each in fio.jobs
        if each is job or _is_meanwhile(each, job)
    }
    jobs = tuple(others.get(each, each) for each in fio.jobs)
    of_drive = replace(fio, jobs=jobs, capacity_bytes=_capacity(fio, job))
    return of_job(of_drive, others[job], **how)


def _is_meanwhile(other: FioJob, job: FioJob) -> bool:
    """Return whether a job changes data on the files of another at the same time."""
    changes_data = other.writes or "trim" in other.rw
    return other.phase == job.phase and changes_data and shares_files(other, job)


def _on_one_drive(job: FioJob) -> FioJob:
    """Return a job that differs from equal jobs in no name, number or place in the order."""
    options = {name: value for name, value in job.options.items() if name != "exec_prerun"}
    if job.files:
        options["filename"] = "drive"
        if len(job.files) > 1 and job.size("size"):
            options["size"] = str((job.size("size") or 0) // len(job.files))
    return replace(job, name="job", options=options, phase=0, number=1)


def _capacity(fio: FioJobs, job: FioJob) -> int | None:
    """Return the size of the drive, or else the end of the spans on a job's files, or None."""
    if fio.capacity_bytes is not None:
        return fio.capacity_bytes
    if not job.files:
        return (job.span_bytes or 0) * job.copies or None
    ends = [_end(each) for each in fio.jobs if each is job or shares_files(each, job)]
    return max(ends) or None


def _end(job: FioJob) -> int:
    # fio does not read 1.8T as intended.
    size = job.span_bytes or meant_size_of(job.options.get("size", ""), job.kb_base)
    if size is None:
        return 0
    step = (job.size("offset_increment") or 0) * (job.copies - 1)
    return (job.size("offset") or 0) + step + size // max(1, len(job.files))


def _span_share(fio: FioJobs, job: FioJob) -> float:
    """Return the share of the drive that the spans of a job's copies have."""
    spans = job.copies if job.has_own_places else 1
    capacity = _capacity(fio, job)
    if job.span_bytes and capacity:
        return min(1.0, job.span_bytes / max(1, len(job.files)) * spans / capacity)
    return min(1.0, (job.span_share or 1.0) * spans)


def _page_bytes(jobs: list[FioJob]) -> int | None:
    """Return the size that all requests are multiples of, if it is larger than usual pages."""
    places = [job.size(name) or 0 for job in jobs for name in ("offset", "blockalign")]
    common = gcd(*(job.write_blocks[0] for job in jobs), *places)
    is_usual = common % _PAGE_BYTES or any(job.has("bs_unaligned") for job in jobs)
    return None if is_usual or common <= _PAGE_BYTES else min(common, _MOST_PAGE_BYTES)
