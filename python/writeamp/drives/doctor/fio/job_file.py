"""Job files of fio: sections, what [global] hands down, and which jobs run at the same time.

Nothing that a file names is opened, and nothing in it is run.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import TypeVar

from writeamp.drives.doctor.finding import NotJudged
from writeamp.drives.doctor.fio.job import ALIASES, FioJob, canonical, set_option
from writeamp.drives.doctor.fio.other_programs import written_by_others
from writeamp.drives.doctor.fio.shell import commands_of
from writeamp.drives.doctor.fio.values import is_set, option_names, shown_speed
from writeamp.errors import WriteampError

# Options by which a file with sections is taken for fio's.
TELLING = {
    *("rw", "ioengine", "bs", "bsrange", "bssplit", "iodepth", "filename", "numjobs", "loops"),
    *("time_based", "norandommap", "rwmixread", "rwmixwrite", "randrepeat", "stonewall"),
}
_SECTION = re.compile(r"\[([^\n]*)\]")
_VARIABLE = re.compile(r"\$\{([^}]{0,255})\}")
_OF_SHELL = re.compile(r"\$[A-Za-z_]")
_MOST_JOBS = 500
# Names of namespaces and partitions, behind that of the whole.
_PART = re.compile(r"(n\d+)?(p?\d+)?")
# Smaller than most drives with flash that are sold today.
SMALLEST_DRIVE_BYTES = 60 * 10**9
# Share of a span from which it counts as filled.
_NEARLY_ONCE = 0.9
# What runs before a job runs after the phase before it.
_JUST_BEFORE = 0.5


_Jobs = TypeVar("_Jobs", bound="FioJobs")


@dataclass(frozen=True)
class FioJobs:
    """Jobs of a file or a command line.

    Attributes:
        name: of the file, or the command.
        jobs: in their order.
        notes: sentences on what was not read.
        capacity_bytes: of the drive that they run on; None if nobody says.
        commands: what runs beside fio, if it is a script.
        named: job files that a command names, which were not opened.
        others: what other programs of a script write and trim.
    """

    name: str
    jobs: tuple[FioJob, ...]
    notes: tuple[str, ...] = ()
    capacity_bytes: int | None = None
    commands: str = ""
    named: tuple[str, ...] = ()
    others: tuple[FioJob, ...] = ()

    def __post_init__(self) -> None:
        """Refuse so many jobs that to compare all pairs would take minutes."""
        if len(self.jobs) > _MOST_JOBS:
            raise WriteampError(
                f"{self.name} has {len(self.jobs):,} jobs; at most {_MOST_JOBS:,} are judged"
            )

    @cached_property
    def writers(self) -> list[FioJob]:
        """The jobs that write to something that may be a drive."""
        return [one for one in self.jobs if one.writes]

    def before(self, job: FioJob) -> list[FioJob]:
        """Return what has written to the files of a job when it begins, since they were emptied."""
        return self._past(job)[1]

    def emptied(self, job: FioJob) -> FioJob | None:
        """Return what emptied the drive of a job last before it begins; None if nothing did."""
        return self._past(job)[0]

    @cached_property
    def _steps(self) -> list[FioJob]:
        """Jobs of fio and steps of other programs, in order."""
        preruns = [each for one in self.jobs for each in _of_prerun(one)]
        return sorted((*self.jobs, *self.others, *preruns), key=lambda one: one.phase)

    def _past(self, job: FioJob) -> tuple[FioJob | None, list[FioJob]]:
        emptied: FioJob | None = None
        writers: list[FioJob] = []
        for one in self._steps:
            if one.phase >= job.phase:
                break
            if one.empties and touches(one, job):
                emptied, writers = one, writers if not one.is_sure else []
            elif one.writes and shares_files(one, job):
                writers.append(one)
        return emptied, writers


def _of_prerun(job: FioJob) -> Iterator[FioJob]:
    """Yield what the command that fio runs before a job does to a drive."""
    for command in commands_of(job.options.get("exec_prerun", "")):
        found = written_by_others(command.words, job.phase - _JUST_BEFORE)
        if found is not None:
            yield found


def on_drive(fio: _Jobs, capacity_bytes: int | None) -> _Jobs:
    """Return jobs that know the size of their drive; None if nobody does."""
    jobs, others = (
        tuple(replace(one, drive_bytes=capacity_bytes) for one in some)
        for some in (fio.jobs, fio.others)
    )
    return replace(fio, jobs=jobs, others=others, capacity_bytes=capacity_bytes)


def unknown_size(job: FioJob) -> NotJudged:
    """Return that what a job does depends on the size of its files, which nobody says."""
    named = ", ".join(job.files) or "its files"
    return NotJudged(f"the size of {named} is unknown; give --capacity", (job.name,))


def unknown_speed(job: FioJob, copies: int, times: float = 1.0) -> NotJudged:
    """Return that the runtime of a job may end it, and how fast it would have to be.

    Args:
        job: of which the span and the runtime are known.
        copies: how many of them write spans of their own.
        times: passes over the span that would have to be completed.
    """
    seconds, span = job.seconds("runtime"), job.whole_span_bytes or 0
    runtime = f"runtime={job.options['runtime']}"
    if not seconds or not span:
        return NotJudged(f"{runtime} may end it, at a time that is unknown", (job.name,))
    needed = shown_speed(times * span * copies / seconds)
    return NotJudged(
        f"{runtime} ends it: for {counted(times)} over {span:,} bytes {needed} would be needed, "
        "and the speed is unknown; give fio's output, or set rate",
        (job.name,),
    )


def counted(passes: float) -> str:
    """Return a number of passes in words."""
    shown = f"{passes:.3g}"
    return "one pass" if shown == "1" else f"{shown} passes"


def shares_files(one: FioJob, other: FioJob) -> bool:
    """Return whether two jobs have a file in common, as far as they name them.

    A device and a partition of it, or a controller and a namespace, have their place in common.
    """
    return any(
        first == second or _is_part(first, second) or _is_part(second, first)
        for first in one.files
        for second in other.files
    )


def _is_part(part: str, whole: str) -> bool:
    rest = part.removeprefix(whole)
    return whole.startswith("/dev/") and rest != part and _PART.fullmatch(rest) is not None


def touches(emptying: FioJob, job: FioJob) -> bool:
    """Return whether what empties a drive may empty that of a job.

    A program may name the drive otherwise, and a file system does not say where it is.
    """
    return not emptying.files or not job.devices or shares_files(emptying, job)


def fills(one: FioJob, job: FioJob) -> bool | None:
    """Return whether a job fills the span of a later one; None if nobody knows."""
    share = share_of_span(one, job)
    written = one.spans_moved.times(one.write_share)
    if share is None:
        return False if written.high < _NEARLY_ONCE else None
    if min(1.0, written.high) * share < _NEARLY_ONCE:
        return False
    return True if min(1.0, written.low) * share >= _NEARLY_ONCE else None


def share_of_span(one: FioJob, job: FioJob) -> float | None:
    """Return how much of the span of a job another writes to; None if nobody knows."""
    copies = one.copies if one.has("offset_increment") else 1
    if one.whole_span_bytes is not None and job.whole_span_bytes is not None:
        return one.whole_span_bytes * copies / job.whole_span_bytes
    if "size" in one.unknown:
        return None
    if one.span_bytes is None:
        return (one.span_share or 1.0) * copies / (job.span_share or 1.0)
    is_part = one.span_bytes * copies < SMALLEST_DRIVE_BYTES and job.devices
    return 0.0 if is_part else None


def is_job_file(text: str) -> bool:
    """Return whether a text is a job file: sections, and an option that only fio has."""
    seen_section, names = False, set()
    for _, line in _lines(text):
        name = canonical(line.split("=", 1)[0])
        if line.startswith("["):
            seen_section = seen_section or _SECTION.fullmatch(line) is not None
        elif not seen_section and name not in option_names() | {*ALIASES} and "=" not in line:
            return False
        else:
            names.add(name)
    return seen_section and bool(names & TELLING)


def read_job_file(
    text: str,
    name: str,
    *,
    shared: Mapping[str, str] = MappingProxyType({}),
    environment: Mapping[str, str] = os.environ,
) -> FioJobs:
    """Return the jobs of a job file.

    [global] stands for the jobs below it; a later one adds to it, and a job has the last word.

    Args:
        text: of the file.
        name: of the file.
        shared: options that the call of fio gives for all jobs.
        environment: variables that fio sees.

    Raises:
        WriteampError: an option stands outside of any section, or there is no job.
    """
    shared = dict(shared)
    sections: list[tuple[str, dict[str, str]]] = []
    now: dict[str, str] | None = None
    notes: list[str] = []
    for number, line in _lines(text):
        section = _SECTION.fullmatch(line)
        if section is not None:
            # fio compares six letters, so that [global defaults] is one too.
            is_shared = section[1].startswith("global")
            now = shared if is_shared else dict(shared)
            if not is_shared:
                sections.append((section[1], now))
        elif line.split(None, 1)[0] == "include":
            notes.append(f"{name}:{number}: {line.split(None, 1)[-1]} is included and not read")
        elif now is None:
            raise WriteampError(
                f"{name}:{number}: the option {line[:80]!r} stands before the first [section], "
                "where fio takes none"
            )
        else:
            option, _, value = line.partition("=")
            # Of the variables of an environment, as fio takes those of its own.
            known = _VARIABLE.sub(lambda one: environment.get(one[1], one[0]), value.strip())
            set_option(now, canonical(option), known)
    if not sections:
        raise WriteampError(f"{name} has no job: a section other than [global]")
    jobs = tuple(in_phases(sections))
    return FioJobs(name, jobs, (*notes, *unknown_values(name, jobs)))


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that say something, with their numbers, without comments."""
    for number, line in enumerate(text.splitlines(), 1):
        said = re.split("[;#]", line, maxsplit=1)[0].strip()
        if said:
            yield number, said


def in_phases(sections: list[tuple[str, dict[str, str]]]) -> Iterator[FioJob]:
    """Yield the jobs of sections; one that waits for those before it begins a phase."""
    phase, number = 0, 1
    for place, (name, options) in enumerate(sections):
        waits = is_set(options.get("stonewall")) or "wait_for" in options
        phase += bool(waits and place)
        job = FioJob(name, options, phase, number=number)
        number += job.copies
        yield job


def unknown_values(name: str, jobs: tuple[FioJob, ...]) -> Iterator[str]:
    """Yield a note on each option whose variable is not known here."""
    found: Mapping[str, str] = {
        option: value for one in jobs for option, value in one.unknown.items()
    }
    for option, value in found.items():
        yield (
            f"{name}: {option}={value} is not known here{_why_unknown(value)}; what depends on it "
            "is not judged"
        )


def _why_unknown(value: str) -> str:
    """Return what kind of value is not known."""
    if re.search(r"\$\{?[0-9@*#]", value):
        return " (a parameter of the script)"
    if "{{" in value:
        return " (filled in by a template)"
    if "{}" in value:
        return " (filled in by xargs, find or parallel)"
    if "$(" in value or "`" in value:
        return " (the output of a command)"
    return " (a parameter, or set while a script runs)" if _OF_SHELL.search(value) else ""
