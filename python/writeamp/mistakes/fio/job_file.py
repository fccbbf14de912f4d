"""Job files of fio: sections, what [global] hands down, and which jobs run at the same time.

Nothing that a file names is opened, and nothing in it is run.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

from writeamp.errors import WriteampError
from writeamp.mistakes.finding import NotJudged
from writeamp.mistakes.fio.job import Job, canonical
from writeamp.mistakes.fio.values import is_set

# Options by which a file with sections is taken for fio's.
TELLING = {
    *("rw", "ioengine", "bs", "bsrange", "bssplit", "iodepth", "filename", "numjobs", "loops"),
    *("time_based", "norandommap", "rwmixread", "rwmixwrite", "randrepeat", "stonewall"),
}
_SECTION = re.compile(r"\[([^\n]*)\]")
_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_MOST_JOBS = 500


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
    """

    name: str
    jobs: tuple[Job, ...]
    notes: tuple[str, ...] = ()
    capacity_bytes: int | None = None
    commands: str = ""
    named: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse so many jobs that to compare all pairs would take minutes."""
        if len(self.jobs) > _MOST_JOBS:
            raise WriteampError(
                f"{self.name} has {len(self.jobs):,} jobs; at most {_MOST_JOBS:,} are judged"
            )

    @cached_property
    def writers(self) -> list[Job]:
        """The jobs that write to something that may be a drive."""
        return [one for one in self.jobs if one.writes]

    def before(self, job: Job) -> list[Job]:
        """Return the jobs that write to the same files and are done when a job begins."""
        return [one for one in self.writers if one.phase < job.phase and shares_files(one, job)]


def on_drive(fio: _Jobs, capacity_bytes: int | None) -> _Jobs:
    """Return jobs that know the size of their drive; None if nobody does."""
    jobs = tuple(replace(one, drive_bytes=capacity_bytes) for one in fio.jobs)
    return replace(fio, jobs=jobs, capacity_bytes=capacity_bytes)


def unknown_size(job: Job) -> NotJudged:
    """Return that what a job does depends on the size of its files, which nobody says."""
    named = ", ".join(job.files) or "its files"
    return NotJudged(f"the size of {named} is unknown; give --capacity", (job.name,))


def shares_files(one: Job, other: Job) -> bool:
    """Return whether two jobs have a file in common, as far as they name them."""
    return bool(set(one.files) & set(other.files))


def is_job_file(text: str) -> bool:
    """Return whether a text is a job file: sections, and an option that only fio has."""
    seen_section, names = False, set()
    for _, line in _lines(text):
        if line.startswith("["):
            seen_section = seen_section or _SECTION.fullmatch(line) is not None
        else:
            names.add(canonical(line.split("=", 1)[0]))
    return seen_section and bool(names & TELLING)


def read_job_file(text: str, name: str) -> FioJobs:
    """Return the jobs of a job file.

    [global] stands for the jobs below it; a later one adds to it, and a job has the last word.

    Raises:
        WriteampError: an option stands outside of any section, or there is no job.
    """
    shared: dict[str, str] = {}
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
            now[canonical(option)] = _with_variables(value.strip())
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


def _with_variables(text: str) -> str:
    """Return a value with the variables of this environment, as fio takes those of its own."""
    return _VARIABLE.sub(lambda found: os.environ.get(found[1], found[0]), text)


def in_phases(sections: list[tuple[str, dict[str, str]]]) -> Iterator[Job]:
    """Yield the jobs of sections; one that waits for those before it begins a phase."""
    phase, number = 0, 1
    for place, (name, options) in enumerate(sections):
        waits = is_set(options.get("stonewall")) or "wait_for" in options
        phase += bool(waits and place)
        job = Job(name, options, phase, number=number)
        number += job.copies
        yield job


def unknown_values(name: str, jobs: tuple[Job, ...]) -> Iterator[str]:
    """Yield a note on each option whose variable is not known here."""
    found: Mapping[str, str] = {
        option: value for one in jobs for option, value in one.unknown.items()
    }
    for option, value in found.items():
        yield f"{name}: {option}={value} is not known here; what depends on it is not judged"
