"""Notes on differences between a job and its load; placement handles of a job."""

from __future__ import annotations

import re
from collections.abc import Iterator

from writeamp.errors import WriteampError
from writeamp.fio.job import FioJob
from writeamp.text import Caution

# Handles of fdp_pli: numbers, and ranges of numbers.
_PLIDS = re.compile(r"\d{1,9}([\s,:-]+\d{1,9})*")
_MOST_HANDLE = 255


def notes_of_job(job: FioJob, *, is_last: bool) -> Iterator[str]:
    """Yield notes on differences between a job and its load.

    Args:
        job: the job.
        is_last: whether no job waits for its end.
    """
    if job.is_timed and not is_last:
        yield f"job {job.name!r} is followed by other jobs, so it makes one pass over its size"
    if job.rw in {"trimwrite", "randtrimwrite"} and job.count("iodepth", 1) > 1:
        yield Caution(
            f"job {job.name!r} has rw={job.rw} and iodepth={job.options['iodepth']}, so fio writes "
            "blocks before their trim has ended, and some stay trimmed; here, each trim ends first"
        )
    handles = job.options.get("fdp_pli", "").strip()
    if _is_placed(job) and job.writes and not handles.isdecimal():
        named = f"fdp_pli={handles}" if handles else "no fdp_pli"
        handle = handle_of(job)
        yield Caution(
            f"job {job.name!r} has {named}, so fio gives its writes several placement handles; "
            f"here, all of them get {'no handle' if handle is None else f'handle {handle}'}"
        )


def handle_of(job: FioJob) -> int | None:
    """Return the first placement handle of a job; None without one, or for the default 0.

    Raises:
        WriteampError: a handle is not valid.
    """
    text = job.options.get("fdp_pli", "").strip()
    if not text or not _is_placed(job):
        return None
    handles = [int(number) for number in re.findall(r"\d{1,9}", text)]
    if not _PLIDS.fullmatch(text) or max(handles) > _MOST_HANDLE:
        raise WriteampError(
            f"job {job.name!r} has fdp_pli={text}; valid: placement handles from 0 to "
            f"{_MOST_HANDLE}, such as 1 or 0,2"
        )
    return handles[0] or None


def _is_placed(job: FioJob) -> bool:
    return job.has("fdp") or job.options.get("dataplacement", "").strip() in {"fdp", "streams"}
