"""Job files of fio: sections, options inherited from [global], and concurrent jobs.

No file that a job names is opened, and no job is run.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import TypeVar

from writeamp.errors import WriteampError
from writeamp.fio.job import ALIASES, FioJob, canonical, set_option
from writeamp.fio.other_programs import written_by_others
from writeamp.fio.shell import commands_of
from writeamp.fio.values import is_set, option_names

# Options that identify a file with sections as a job file of fio.
IDENTIFYING = {
    *("rw", "ioengine", "bs", "bsrange", "bssplit", "iodepth", "filename", "numjobs", "loops"),
    *("time_based", "norandommap", "rwmixread", "rwmixwrite", "randrepeat", "stonewall"),
}
_SECTION = re.compile(r"\[([^\n]*)\]")
_VARIABLE = re.compile(r"\$\{([^}]{0,255})\}")
_OF_SHELL = re.compile(r"\$[A-Za-z_]")
_MOST_JOBS = 500
# Suffix that the name of a namespace or partition has after the name of its drive.
_PART = re.compile(r"(n\d+)?(p?\d+)?")
# Most flash drives sold today are larger than this, in bytes. A smaller span is only part of a
# drive.
SMALLEST_DRIVE_BYTES = 60 * 10**9
# Smallest share of a span that must be written for the span to count as filled.
_NEARLY_ONCE = 0.9
# Jobs of one phase run at the same time. A program that fio runs before a job (exec_prerun) gets
# the phase of the job minus this value, so it is after the previous phase and before the job.
_JUST_BEFORE = 0.5
# Usual mapping unit of drives.
UNIT_BYTES = 4096


_Jobs = TypeVar("_Jobs", bound="FioJobs")


@dataclass(frozen=True)
class FioJobs:
    """Jobs of a file or a command line.

    Attributes:
        name: name of the file, or the command.
        jobs: jobs in the order of the file or script.
        notes: sentences about parts that were not read.
        capacity_bytes: capacity of the jobs' drive; None if unknown.
        unit_bytes: mapping unit of the jobs' drive.
        commands: text of the script or command line with the jobs; "" for other inputs.
        named: job files that a command names, which were not opened.
        others: writes and trims of other programs in a script.
    """

    name: str
    jobs: tuple[FioJob, ...]
    notes: tuple[str, ...] = ()
    capacity_bytes: int | None = None
    unit_bytes: int = UNIT_BYTES
    commands: str = ""
    named: tuple[str, ...] = ()
    others: tuple[FioJob, ...] = ()

    def __post_init__(self) -> None:
        """Reject so many jobs that comparing all pairs would take minutes."""
        if len(self.jobs) > _MOST_JOBS:
            raise WriteampError(
                f"{self.name} has {len(self.jobs):,} jobs. At most {_MOST_JOBS:,} are supported"
            )

    @cached_property
    def writers(self) -> list[FioJob]:
        """Jobs whose writes may reach a drive, through a device or a file."""
        return [job for job in self.jobs if job.writes]

    def writers_before(self, job: FioJob) -> list[FioJob]:
        """Return the steps that wrote a job's files after the drive was last certainly emptied."""
        return self._past(job)[1]

    def emptied(self, job: FioJob) -> FioJob | None:
        """Return the last step that emptied the drive of a job before it begins, or None."""
        return self._past(job)[0]

    @cached_property
    def _steps(self) -> list[FioJob]:
        """Jobs of fio and steps of other programs, in order."""
        preruns = [each for job in self.jobs for each in _of_prerun(job)]
        return sorted((*self.jobs, *self.others, *preruns), key=lambda job: job.phase)

    def _past(self, job: FioJob) -> tuple[FioJob | None, list[FioJob]]:
        emptied: FioJob | None = None
        writers: list[FioJob] = []
        for step in self._steps:
            if step.phase >= job.phase:
                break
            if step.empties and touches(step, job):
                emptied, writers = step, writers if not step.is_sure else []
            elif step.writes and shares_files(step, job):
                writers.append(step)
        return emptied, writers


def _of_prerun(job: FioJob) -> Iterator[FioJob]:
    """Yield the effect on the drive of the command that fio runs before a job (exec_prerun)."""
    for command in commands_of(job.options.get("exec_prerun", "")):
        effect = written_by_others(command.words, job.phase - _JUST_BEFORE)
        if effect is not None:
            yield effect


def on_drive(fio: _Jobs, capacity_bytes: int | None) -> _Jobs:
    """Return the jobs with the capacity of their drive set."""
    jobs, others = (
        tuple(replace(job, drive_bytes=capacity_bytes) for job in some)
        for some in (fio.jobs, fio.others)
    )
    return replace(fio, jobs=jobs, others=others, capacity_bytes=capacity_bytes)


def counted(passes: float) -> str:
    """Return a number of passes in words."""
    shown = f"{passes:.3g}"
    return "one pass" if shown == "1" else f"{shown} passes"


def shares_files(job: FioJob, other: FioJob) -> bool:
    """Return whether two jobs name a common file; unnamed files do not count.

    A device and its partition overlap, as do a controller and its namespace.
    """
    return any(
        first == second or _is_part(first, second) or _is_part(second, first)
        for first in job.files
        for second in other.files
    )


def _is_part(name: str, drive: str) -> bool:
    suffix = name.removeprefix(drive)
    return drive.startswith("/dev/") and suffix != name and _PART.fullmatch(suffix) is not None


def touches(emptying: FioJob, job: FioJob) -> bool:
    """Return whether an emptying step may empty the drive of a job.

    A program may use another name of the drive, and a file system does not name its drive.
    """
    return not emptying.files or not job.devices or shares_files(emptying, job)


def fills(earlier: FioJob, job: FioJob) -> bool | None:
    """Return whether a job fills the span of a later job; None if unknown."""
    share = share_of_span(earlier, job)
    written = earlier.spans_moved.times(earlier.write_share)
    if share is None:
        return False if written.high < _NEARLY_ONCE else None
    if min(1.0, written.high) * share < _NEARLY_ONCE:
        return False
    return True if min(1.0, written.low) * share >= _NEARLY_ONCE else None


def share_of_span(writer: FioJob, job: FioJob) -> float | None:
    """Return the share of a job's span that another job writes; None if unknown."""
    copies = writer.copies if writer.has("offset_increment") else 1
    if writer.whole_span_bytes is not None and job.whole_span_bytes is not None:
        return writer.whole_span_bytes * copies / job.whole_span_bytes
    if "size" in writer.unknown:
        return None
    if writer.span_bytes is None:
        return (writer.span_share or 1.0) * copies / (job.span_share or 1.0)
    is_part = writer.span_bytes * copies < SMALLEST_DRIVE_BYTES and job.devices
    return 0.0 if is_part else None


def is_job_file(text: str) -> bool:
    """Return whether a text is a job file: it has a section and an option of `IDENTIFYING`."""
    seen_section, names = False, set()
    for _, line in _lines(text):
        name = canonical(line.split("=", 1)[0])
        if line.startswith("["):
            seen_section = seen_section or _SECTION.fullmatch(line) is not None
        elif not seen_section and name not in option_names() | {*ALIASES} and "=" not in line:
            return False
        else:
            names.add(name)
    return seen_section and bool(names & IDENTIFYING)


def read_job_file(
    text: str,
    name: str,
    *,
    shared: Mapping[str, str] = MappingProxyType({}),
    environment: Mapping[str, str] = os.environ,
) -> FioJobs:
    """Return the jobs of a job file.

    [global] applies to the jobs below it; a later [global] adds options, and a job overrides them.

    Args:
        text: content of the file.
        name: name of the file.
        shared: options that the call of fio sets for all jobs.
        environment: environment variables of fio.

    Raises:
        WriteampError: an option is outside of any section, or there are no jobs.
    """
    shared = dict(shared)
    sections: list[tuple[str, dict[str, str]]] = []
    now: dict[str, str] | None = None
    notes: list[str] = []
    for number, line in _lines(text):
        section = _SECTION.fullmatch(line)
        if section is not None:
            # fio compares only the first six letters, so [global defaults] is also a global
            # section.
            is_shared = section[1].startswith("global")
            now = shared if is_shared else dict(shared)
            if not is_shared:
                sections.append((section[1], now))
        elif line.split(None, 1)[0] == "include":
            notes.append(f"{name}:{number}: {line.split(None, 1)[-1]} is included but was not read")
        elif now is None:
            raise WriteampError(
                f"{name}:{number}: the option {line[:80]!r} is before the first [section], "
                "where fio does not accept options"
            )
        else:
            option, _, value = line.partition("=")
            # fio replaces environment variables, so they are replaced here, too.
            expanded = _VARIABLE.sub(
                lambda match: environment.get(match[1], match[0]), value.strip()
            )
            set_option(now, canonical(option), expanded)
    if not sections:
        raise WriteampError(f"{name} has no job, which is a section other than [global]")
    jobs = tuple(in_phases(sections))
    return FioJobs(name, jobs, (*notes, *unknown_values(name, jobs)))


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines with content and their numbers, without comments."""
    for number, line in enumerate(text.splitlines(), 1):
        content = re.split("[;#]", line, maxsplit=1)[0].strip()
        if content:
            yield number, content


def in_phases(sections: list[tuple[str, dict[str, str]]]) -> Iterator[FioJob]:
    """Yield the jobs of sections; a job that waits for earlier ones begins a new phase."""
    phase, number = 0, 1
    for place, (name, options) in enumerate(sections):
        waits = is_set(options.get("stonewall")) or "wait_for" in options
        phase += bool(waits and place)
        job = FioJob(name, options, phase, number=number)
        number += job.copies
        yield job


def unknown_values(name: str, jobs: tuple[FioJob, ...]) -> Iterator[str]:
    """Yield a note on each option with an unknown variable."""
    unknown: Mapping[str, str] = {
        option: value for job in jobs for option, value in job.unknown.items()
    }
    for option, value in unknown.items():
        yield (
            f"{name}: {option}={value} is unknown{_why_unknown(value)}; checks that depend on it "
            "are skipped"
        )


def _why_unknown(value: str) -> str:
    """Return the reason why a value is unknown, in brackets."""
    if re.search(r"\$\{?[0-9@*#]", value):
        return " (a parameter of the script)"
    if "{{" in value:
        return " (filled in by a template)"
    if "{}" in value:
        return " (filled in by xargs, find or parallel)"
    if "$(" in value or "`" in value:
        return " (the output of a command)"
    return " (a parameter, or set while a script runs)" if _OF_SHELL.search(value) else ""
