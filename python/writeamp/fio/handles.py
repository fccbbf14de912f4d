"""Placement handles of a job, of which a load has one for each job."""

from __future__ import annotations

import re
from collections.abc import Iterator

from writeamp.fio.job import FioJob
from writeamp.text import Caution


def handle_of(job: FioJob) -> int | None:
    """Return the first placement handle of a job; None without one, or for the default 0."""
    first = re.match(r"\s*(\d+)", job.options.get("fdp_pli", ""))
    return (int(first[1]) or None) if _is_placed(job) and first else None


def notes_on_handles(job: FioJob) -> Iterator[str]:
    """Yield a note if fio gives the writes of a job several handles."""
    handles = job.options.get("fdp_pli", "").strip()
    if _is_placed(job) and job.writes and not handles.isdecimal():
        named = f"fdp_pli={handles}" if handles else "no fdp_pli"
        handle = handle_of(job)
        yield Caution(
            f"job {job.name!r} has {named}, so fio gives its writes several placement handles; "
            f"here, all of them get {'no handle' if handle is None else f'handle {handle}'}"
        )


def _is_placed(job: FioJob) -> bool:
    return job.has("fdp") or job.options.get("dataplacement", "").strip() in {"fdp", "streams"}
