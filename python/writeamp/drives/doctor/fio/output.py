"""JSON output of fio: its jobs, and what came of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from writeamp.drives.doctor.fio.job import FioJob, canonical, set_option
from writeamp.drives.doctor.fio.job_file import FioJobs


@dataclass(frozen=True)
class FioOutput(FioJobs):
    """Jobs with results; one for each job, of whose copies the results are several.

    Attributes:
        results: objects of the document's `jobs`, for each job in their order.
        version: of fio, as (3, 33); None if it does not say.
        preface: text that stood before the document, such as warnings.
    """

    results: tuple[tuple[Mapping[str, Any], ...], ...] = ()
    version: tuple[int, int] | None = None
    preface: str = ""

    def written_bytes(self, place: int | None = None) -> int:
        """Return the bytes that a job wrote, or all of them."""
        chosen = self.results if place is None else self.results[place : place + 1]
        return sum(_count(one, "write", "io_bytes") for copies in chosen for one in copies)


def is_output(document: Any) -> bool:
    """Return whether a document is one of fio's."""
    if not isinstance(document, Mapping) or "fio version" not in document:
        return False
    return isinstance(document.get("jobs", document.get("client_stats")), list)


def read_output(document: Mapping[str, Any], preface: str, name: str) -> FioOutput:
    """Return the jobs and results of a document.

    Args:
        document: as JSON or JSON+.
        preface: text that stood before the document.
        name: of the file.
    """
    shared = _options(document.get("global options"))
    entries = document.get("jobs", document.get("client_stats"))
    assert isinstance(entries, list)
    # fio 3.33 leaves options without a value out.
    hides_flags = not any("" in _options(one).values() for one in _option_tables(document))
    jobs: dict[tuple[str, int, str], tuple[FioJob, list[Mapping[str, Any]]]] = {}
    for one in entries:
        if not isinstance(one, Mapping) or one.get("jobname") == "All clients":
            continue
        own = _options(one.get("job options"))
        options = shared | own
        options.pop("name", None)
        job_name, group = str(one.get("jobname", "")), _number(one.get("groupid"))
        key = (job_name, group, repr(sorted(options.items())))
        # Copies of a job stand one by one, unless they are reported as a group.
        jobs.setdefault(key, (FioJob(job_name, options, group, hides_flags=hides_flags), []))[
            1
        ].append(one)
    return FioOutput(
        name,
        tuple(_with_time(job, copies) for job, copies in jobs.values()),
        results=tuple(tuple(copies) for _, copies in jobs.values()),
        version=_version(document["fio version"]),
        preface=preface,
    )


def _option_tables(document: Mapping[str, Any]) -> list[Any]:
    """Return the tables of options in a document."""
    entries = document.get("jobs", document.get("client_stats"))
    own = [one.get("job options") for one in entries or [] if isinstance(one, Mapping)]
    return [document.get("global options"), *own]


def _with_time(job: FioJob, copies: list[Mapping[str, Any]]) -> FioJob:
    """Return a job with the bytes that it moved, and the time_based that these show.

    fio prints no option without a value. Without this one, a job that neither loops nor is told to
    move more ends with its span.
    """
    ways = ("read", "write", "trim")
    moved = sum(_count(one, way, "io_bytes") for one in copies for way in ways)
    span = job.span_bytes
    went_on = span is not None and moved > span * job.copies
    job = replace(job, moved_bytes=moved / job.copies)
    if went_on and "runtime" in job.options and not {"loops", "io_size"} & job.options.keys():
        return replace(job, options={**job.options, "time_based": ""})
    return job


def _options(found: Any) -> dict[str, str]:
    if not isinstance(found, Mapping):
        return {}
    options: dict[str, str] = {}
    for key, one in found.items():
        set_option(options, canonical(str(key)), "" if one is None else str(one))
    return options


def _number(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _count(entry: Mapping[str, Any], direction: str, key: str) -> int:
    part = entry.get(direction)
    return _number(part.get(key)) if isinstance(part, Mapping) else 0


def _version(text: Any) -> tuple[int, int] | None:
    found = re.search(r"fio-(\d{1,9})\.(\d{1,9})", str(text))
    return (int(found[1]), int(found[2])) if found else None
