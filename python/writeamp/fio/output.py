"""JSON output of fio: its jobs and their results."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from writeamp.fio.job import FioJob, canonical, set_option
from writeamp.fio.job_file import FioJobs


@dataclass(frozen=True)
class FioOutput(FioJobs):
    """Jobs with results: one job per name, and one result per copy of it.

    Attributes:
        results: objects of the document's `jobs`: for each job, one per copy.
        version: version of fio, as (3, 33), or None.
        preface: text before the document, such as warnings.
    """

    results: tuple[tuple[Mapping[str, Any], ...], ...] = ()
    version: tuple[int, int] | None = None
    preface: str = ""

    def written_bytes(self, place: int | None = None) -> int:
        """Return the bytes that a job wrote, or that all jobs wrote together."""
        chosen = self.results if place is None else self.results[place : place + 1]
        return sum(_count(copy, "write", "io_bytes") for copies in chosen for copy in copies)


def is_output(document: Any) -> bool:
    """Return whether a document is fio's output."""
    if not isinstance(document, Mapping) or "fio version" not in document:
        return False
    return isinstance(document.get("jobs", document.get("client_stats")), list)


def read_output(document: Mapping[str, Any], preface: str, name: str) -> FioOutput:
    """Return the jobs and results of a document.

    Args:
        document: parsed JSON or JSON+.
        preface: text before the document.
        name: name of the file.
    """
    shared = _options(document.get("global options"))
    entries = document.get("jobs", document.get("client_stats"))
    assert isinstance(entries, list)
    # fio 3.33 omits options without a value.
    hides_flags = not any("" in _options(options).values() for options in _option_tables(document))
    jobs: dict[tuple[str, int, str], tuple[FioJob, list[Mapping[str, Any]]]] = {}
    for entry in entries:
        if not isinstance(entry, Mapping) or entry.get("jobname") == "All clients":
            continue
        own = _options(entry.get("job options"))
        options = shared | own
        options.pop("name", None)
        job_name, group = str(entry.get("jobname", "")), _number(entry.get("groupid"))
        key = (job_name, group, repr(sorted(options.items())))
        # Copies of a job are separate entries, unless they are reported as a group.
        jobs.setdefault(key, (FioJob(job_name, options, group, hides_flags=hides_flags), []))[
            1
        ].append(entry)
    return FioOutput(
        name,
        tuple(_with_time(job, copies) for job, copies in jobs.values()),
        results=tuple(tuple(copies) for _, copies in jobs.values()),
        version=_version(document["fio version"]),
        preface=preface,
    )


def _option_tables(document: Mapping[str, Any]) -> list[Any]:
    """Return the tables of options in a document: the global one, and one per job."""
    entries = document.get("jobs", document.get("client_stats"))
    own = [entry.get("job options") for entry in entries or [] if isinstance(entry, Mapping)]
    return [document.get("global options"), *own]


def _with_time(job: FioJob, copies: list[Mapping[str, Any]]) -> FioJob:
    """Return a job with the bytes of its results, and with time_based if the bytes require it.

    fio omits options without a value. Without time_based, a job without loops or io_size ends with
    its span.
    """
    ways = ("read", "write", "trim")
    moved = sum(_count(copy, direction, "io_bytes") for copy in copies for direction in ways)
    span = job.span_bytes
    went_on = span is not None and moved > span * job.copies
    job = replace(job, moved_bytes=moved / job.copies)
    if went_on and "runtime" in job.options and not {"loops", "io_size"} & job.options.keys():
        return replace(job, options={**job.options, "time_based": ""})
    return job


def _options(table: Any) -> dict[str, str]:
    if not isinstance(table, Mapping):
        return {}
    options: dict[str, str] = {}
    for key, value in table.items():
        set_option(options, canonical(str(key)), "" if value is None else str(value))
    return options


def _number(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _count(entry: Mapping[str, Any], direction: str, key: str) -> int:
    counts = entry.get(direction)
    return _number(counts.get(key)) if isinstance(counts, Mapping) else 0


def _version(text: Any) -> tuple[int, int] | None:
    match = re.search(r"fio-(\d{1,9})\.(\d{1,9})", str(text))
    return (int(match[1]), int(match[2])) if match else None
