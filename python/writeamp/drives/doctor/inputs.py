"""Inputs of the doctor, told apart by their content."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

from writeamp import traces
from writeamp.drives.counters.answer import interval_answer, life_answer
from writeamp.drives.counters.document import Document, is_standard_input, load, objects
from writeamp.drives.counters.facts import CounterCheck
from writeamp.drives.counters.reading import read_snapshots, snapshots_or_none
from writeamp.drives.counters.result import DriveCounters
from writeamp.drives.counters.snapshot import Snapshot
from writeamp.drives.doctor.finding import Kind
from writeamp.drives.doctor.fio.command_line import is_command, is_script, read_commands
from writeamp.drives.doctor.fio.job_file import FioJobs, is_job_file, on_drive, read_job_file
from writeamp.drives.doctor.fio.output import FioOutput, is_output, read_output
from writeamp.drives.doctor.fio.wrapped import as_script
from writeamp.drives.doctor.traces import TraceFacts, of_pages, of_trace
from writeamp.errors import WriteampError
from writeamp.fields.domains import shown
from writeamp.files import inputs
from writeamp.reports.embedding import ELEMENT, report_of
from writeamp.results.signatures import signed_verb
from writeamp.traces.source import file_path, read_head
from writeamp.traces.suggestion import suggestion_of

# Job files, results and snapshots are small; what is larger is a trace, or nothing of ours.
_MOST_BYTES = 64 << 20
_VERSION_KEY = '"fio version"'
_VALID = (
    "a fio job file, a command line of fio, its JSON output, a block trace, a result of writeamp "
    "(--json, --report), or counter snapshots"
)


# Results that cannot be compared, by keys that only one verb prints together.
_OTHER_RESULTS = {
    "measure counters": frozenset({"snapshots"}),
    "measure fleet": frozenset({"drives", "models", "skipped"}),
    "trace info": frozenset({"footprint_bytes", "drive_writes", "requests"}),
    "allocate": frozenset({"methods", "sizes", "frequencies"}),
    "predict --sweep": frozenset({"models", "sweep"}),
}


@dataclass(frozen=True)
class ResultDocument:
    """Result of a verb, as JSON types."""

    name: str
    verb: str
    document: Mapping[str, Any]


@dataclass(frozen=True)
class Counters:
    """Snapshots of a drive's counters, in the order in which they are given."""

    snapshots: tuple[Snapshot, ...]

    @property
    def name(self) -> str:
        """Their names."""
        return ", ".join(one.name for one in self.snapshots)

    @cached_property
    def lives(self) -> tuple[DriveCounters, ...]:
        """Answer of each snapshot since the drive was new."""
        return tuple(life_answer(one) for one in self.snapshots)

    @cached_property
    def intervals(self) -> tuple[DriveCounters, ...]:
        """Answer of each interval between one snapshot and the next."""
        return tuple(interval_answer(*pair) for pair in pairwise(self.snapshots))

    @property
    def answers(self) -> tuple[DriveCounters, ...]:
        """Answers that stand for all: those of the intervals, or of a life if there is none."""
        return self.intervals or self.lives


def checks_of(given: Counters | ResultDocument) -> Iterator[CounterCheck]:
    """Yield the checks that reading the counters of snapshots or of a result made, each once."""
    if isinstance(given, Counters):
        found = (one for answer in given.answers for one in answer.checks)
    else:
        several = given.document.get("snapshots")
        documents = objects(several) if several else [given.document]
        found = (
            CounterCheck(
                str(one.get("name")), one.get("verdict", "unknown"), str(one.get("evidence"))
            )
            for document in documents
            for one in objects(document.get("checks"))
        )
    yield from dict.fromkeys(found)


@dataclass(frozen=True)
class Several:
    """All inputs of one call."""

    inputs: tuple[Input, ...]

    @property
    def name(self) -> str:
        """Their names."""
        return ", ".join(dict.fromkeys(one.name for one in self.inputs))

    def of(self, kind: type[Any]) -> list[Any]:
        """Return those of a type."""
        return [one for one in self.inputs if isinstance(one, kind)]


Input: TypeAlias = FioJobs | FioOutput | TraceFacts | ResultDocument | Counters
_KINDS: dict[type, tuple[Kind, ...]] = {
    FioOutput: ("fio job", "fio output"),
    FioJobs: ("fio job",),
    TraceFacts: ("trace",),
    ResultDocument: ("result",),
    Counters: ("counters",),
    Several: ("several",),
}


def kinds_of(one: Input | Several) -> tuple[Kind, ...]:
    """Return the kinds of checks that an input is for."""
    return _KINDS[type(one)]


def read_inputs(
    sources: Sequence[Any],
    trace_format: str | None = None,
    capacity_bytes: int | None = None,
    *,
    action: str | None = None,
) -> Several:
    """Return inputs, each told by its content; snapshots among them are of one drive, in order.

    Args:
        sources: files, folders, results and traces.
        trace_format: of the traces among them, where that is not certain.
        capacity_bytes: of the drive that they are of.
        action: of blkparse traces among them.

    Raises:
        WriteampError: one cannot be read, or is none of what can be judged.
    """
    found: list[Input] = []
    snapshots: list[Snapshot] = []
    for source in sources:
        one = _read(source, trace_format, action)
        if isinstance(one, list):
            snapshots += one
        else:
            found.append(one)
    if snapshots:
        found.append(Counters(tuple(snapshots)))
        known = snapshots[-1].facts.capacity_bytes
        capacity_bytes = capacity_bytes if capacity_bytes is not None else known
    return Several(tuple(_with_capacity(one, capacity_bytes) for one in found))


def read_command(command: str, capacity_bytes: int | None = None) -> list[FioJobs]:
    """Return the jobs of a command that somebody is about to run, and of job files it names.

    Raises:
        WriteampError: such a file is no job file that fio would take.
    """
    called = read_commands(command, "the command")
    found = [called]
    for name in called.named:
        jobs = _of_text(Path(name)) if Path(name).is_file() else None
        if isinstance(jobs, FioJobs):
            found.append(jobs)
    read = {one.name for one in found}
    found[0] = replace(called, named=tuple(one for one in called.named if one not in read))
    return [on_drive(one, capacity_bytes) for one in found]


def _with_capacity(one: Input, capacity_bytes: int | None) -> Input:
    if isinstance(one, FioJobs):
        return on_drive(one, capacity_bytes)
    if isinstance(one, TraceFacts):
        return replace(one, capacity_bytes=capacity_bytes)
    return one


def _read(source: Any, trace_format: str | None, action: str | None) -> Input | list[Snapshot]:
    if isinstance(source, traces.Trace):
        return of_trace(source)
    if isinstance(source, Mapping) or hasattr(source, "to_dict"):
        document = dict(source) if isinstance(source, Mapping) else source.to_dict()
        return _of_document(document, "the result")
    if isinstance(source, traces.PageTrace):
        return of_pages(source)
    if not isinstance(source, str | os.PathLike):
        raise WriteampError(f"{shown(source)} is nothing that can be judged; such are: {_VALID}")
    path = Path(source)
    if path.is_dir():
        return read_snapshots(path)
    if trace_format is None:
        found = _of_text(path)
        if found is not None:
            return found
    return _of_trace(path, trace_format, action)


def _of_standard_input(path: Path) -> Input | list[Snapshot]:
    found = _of_content(load(path))
    if found is None:
        raise WriteampError(
            f"standard input is nothing that can be judged; such are: {_VALID}. Traces are read "
            "from files"
        )
    return found


def _of_text(path: Path) -> Input | list[Snapshot] | None:
    """Return what a file of text is that is no trace; None of what may be one."""
    if is_standard_input(path):
        return _of_standard_input(path)
    try:
        with inputs.opened(path, _MOST_BYTES + 1) as file:
            content = file.read(_MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise WriteampError(f"cannot read {str(path)!r}: {reason}") from None
    if len(content) > _MOST_BYTES:
        return None
    return _of_content(Document(str(path), content))


def _of_content(document: Document) -> Input | list[Snapshot] | None:
    """Return what a text is that is no trace; None of what may be one."""
    if f'id="{ELEMENT}"'.encode() in document.content:
        return _of_document(report_of(document.content, document.name).document, document.name)
    fio = _fio_in(document)
    if fio is not None:
        return fio
    if document.text.lstrip().startswith("{"):
        return _of_json(document)
    return snapshots_or_none(document)


def _fio_in(document: Document) -> FioJobs | None:
    """Return the jobs of fio that a text has, or its output; None if it is neither."""
    if _VERSION_KEY.encode() in document.content:
        return _of_fio(document)
    if b"\0" not in document.content[:4096]:
        text = as_script(document.text)
        if is_script(text):
            return read_commands(text, document.name)
        if is_job_file(text):
            return read_job_file(text, document.name)
        if is_command(text):
            return read_commands(text, document.name)
    return None


def _of_json(document: Document) -> Input | list[Snapshot]:
    found = document.json
    # Results of ours come first: they name a device too, as logs of drives do.
    is_own = is_output(found) or (isinstance(found, Mapping) and signed_verb(found) is not None)
    snapshots = None if is_own else snapshots_or_none(document)
    return _of_document(found, document.name) if snapshots is None else snapshots


def _of_fio(document: Document) -> FioOutput:
    """Return fio's output: the last document of a file, as one of each interval may stand there."""
    start = max(0, document.text.rfind("{", 0, document.text.rfind(_VERSION_KEY)))
    found = Document(document.name, document.text[start:].encode()).json
    if not is_output(found):
        raise WriteampError(f"{document.name} is JSON of fio that has no jobs")
    return read_output(found, document.text[: document.text.find("{")].strip(), document.name)


def _of_document(found: Any, name: str) -> Input:
    if is_output(found):
        return read_output(found, "", name)
    verb = _verb(found) if isinstance(found, Mapping) else None
    if verb is None:
        raise WriteampError(f"{name} is JSON of nothing that can be judged; such are: {_VALID}")
    return ResultDocument(name, verb, found)


def _verb(document: Mapping[str, Any]) -> str | None:
    of_others = (verb for verb, keys in _OTHER_RESULTS.items() if keys <= document.keys())
    return signed_verb(document) or next(of_others, None)


def _of_trace(path: Path, trace_format: str | None, action: str | None) -> TraceFacts:
    if trace_format is None:
        file = file_path(path)
        head = read_head(file)
        is_of_format = any(one.matches(head) for one in traces.FORMATS.values())
        if not is_of_format and suggestion_of(file, head) is None:
            raise WriteampError(
                f"{path} is nothing that can be judged; such are: {_VALID}. Of a trace, --format "
                "says which one it is"
            )
    return of_trace(traces.read(path, trace_format, action=action))
