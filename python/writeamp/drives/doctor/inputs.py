"""Inputs of the doctor, recognized by their content."""

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
from writeamp.drives.doctor.finding import InputKind
from writeamp.drives.doctor.traces import TraceFacts, of_pages, of_trace
from writeamp.errors import WriteampError
from writeamp.fields.domains import shown
from writeamp.files import inputs
from writeamp.fio.command_line import is_command, is_script, read_commands
from writeamp.fio.job_file import FioJobs, is_job_file, on_drive, read_job_file
from writeamp.fio.output import FioOutput, is_output, read_output
from writeamp.fio.wrapped import as_script
from writeamp.reports.embedding import ELEMENT, report_of
from writeamp.results.signatures import signed_verb
from writeamp.traces.source import file_path, read_head
from writeamp.traces.suggestion import suggestion_of

# Job files, results and snapshots are small; larger files are traces or unsupported.
_MOST_BYTES = 64 << 20
_VERSION_KEY = '"fio version"'
_VALID = (
    "a fio job file, a command line of fio, its JSON output, a block trace, a result of writeamp "
    "(--json, --report), or counter snapshots"
)


# Keys that identify the command of a result that does not name it; only one command prints each
# set.
_OTHER_RESULTS = {
    "measure counters": frozenset({"snapshots"}),
    "measure fleet": frozenset({"drives", "models", "skipped"}),
    "trace info": frozenset({"footprint_bytes", "drive_writes", "requests"}),
    "allocate": frozenset({"methods", "sizes", "frequencies"}),
    "predict --sweep": frozenset({"models", "sweep"}),
}


@dataclass(frozen=True)
class ResultDocument:
    """Result of a writeamp command, as JSON types."""

    name: str
    verb: str
    document: Mapping[str, Any]


@dataclass(frozen=True)
class Counters:
    """Snapshots of a drive's counters, in the order of the arguments."""

    snapshots: tuple[Snapshot, ...]

    @property
    def name(self) -> str:
        """Names of the snapshots."""
        return ", ".join(snapshot.name for snapshot in self.snapshots)

    @cached_property
    def lives(self) -> tuple[DriveCounters, ...]:
        """WA since the drive was new, with its checks, from each snapshot."""
        return tuple(life_answer(snapshot) for snapshot in self.snapshots)

    @cached_property
    def intervals(self) -> tuple[DriveCounters, ...]:
        """WA of each interval between successive snapshots, with its checks."""
        return tuple(interval_answer(*pair) for pair in pairwise(self.snapshots))

    @property
    def answers(self) -> tuple[DriveCounters, ...]:
        """WA of the intervals, or since the drive was new if there is no interval."""
        return self.intervals or self.lives


def checks_of(source: Counters | ResultDocument) -> Iterator[CounterCheck]:
    """Yield the checks of counters in snapshots or a result, without duplicates."""
    if isinstance(source, Counters):
        checks = (check for answer in source.answers for check in answer.checks)
    else:
        several = source.document.get("snapshots")
        documents = objects(several) if several else [source.document]
        checks = (
            CounterCheck(
                str(check.get("name")), check.get("verdict", "unknown"), str(check.get("evidence"))
            )
            for document in documents
            for check in objects(document.get("checks"))
        )
    yield from dict.fromkeys(checks)


@dataclass(frozen=True)
class Several:
    """All inputs of one call of the doctor."""

    inputs: tuple[Input, ...]

    @property
    def name(self) -> str:
        """Names of the inputs."""
        return ", ".join(dict.fromkeys(item.name for item in self.inputs))

    def of(self, kind: type[Any]) -> list[Any]:
        """Return the inputs of a type."""
        return [item for item in self.inputs if isinstance(item, kind)]


Input: TypeAlias = FioJobs | FioOutput | TraceFacts | ResultDocument | Counters
_KINDS: dict[type, tuple[InputKind, ...]] = {
    FioOutput: ("fio job", "fio output"),
    FioJobs: ("fio job",),
    TraceFacts: ("trace",),
    ResultDocument: ("result",),
    Counters: ("counters",),
    Several: ("several",),
}


def kinds_of(source: Input | Several) -> tuple[InputKind, ...]:
    """Return the types of checks that apply to an input."""
    return _KINDS[type(source)]


def read_inputs(
    sources: Sequence[Any],
    trace_format: str | None = None,
    capacity_bytes: int | None = None,
    *,
    action: str | None = None,
) -> Several:
    """Return the inputs, recognized by their content; snapshots must be of one drive, in order.

    Args:
        sources: files, folders, results and traces.
        trace_format: format of the traces, if it is ambiguous.
        capacity_bytes: user capacity of the drive under test, in bytes.
        action: stage of a request that counts in blkparse traces.

    Raises:
        WriteampError: an input cannot be read, or its type is not supported.
    """
    inputs: list[Input] = []
    snapshots: list[Snapshot] = []
    for source in sources:
        item = _read(source, trace_format, action)
        if isinstance(item, list):
            snapshots += item
        else:
            inputs.append(item)
    if snapshots:
        inputs.append(Counters(tuple(snapshots)))
        snapshot_bytes = snapshots[-1].facts.capacity_bytes
        capacity_bytes = capacity_bytes if capacity_bytes is not None else snapshot_bytes
    return Several(tuple(_with_capacity(item, capacity_bytes) for item in inputs))


def read_command(command: str, capacity_bytes: int | None = None) -> list[FioJobs]:
    """Return the jobs of a command that is about to run, and of the job files that it names.

    Raises:
        WriteampError: a job file is invalid.
    """
    called = read_commands(command, "the command")
    jobs_of_files = [called]
    for name in called.named:
        jobs = _of_text(Path(name)) if Path(name).is_file() else None
        if isinstance(jobs, FioJobs):
            jobs_of_files.append(jobs)
    read = {jobs.name for jobs in jobs_of_files}
    jobs_of_files[0] = replace(
        called, named=tuple(file for file in called.named if file not in read)
    )
    return [on_drive(jobs, capacity_bytes) for jobs in jobs_of_files]


def with_unit(several: Several, unit_bytes: int) -> Several:
    """Return the inputs with the mapping unit of their drive set."""
    return Several(
        tuple(
            replace(item, unit_bytes=unit_bytes) if isinstance(item, FioJobs | TraceFacts) else item
            for item in several.inputs
        )
    )


def _with_capacity(item: Input, capacity_bytes: int | None) -> Input:
    if isinstance(item, FioJobs):
        return on_drive(item, capacity_bytes)
    if isinstance(item, TraceFacts):
        return replace(item, capacity_bytes=capacity_bytes)
    return item


def _read(source: Any, trace_format: str | None, action: str | None) -> Input | list[Snapshot]:
    if isinstance(source, traces.Trace):
        return of_trace(source)
    if isinstance(source, Mapping) or hasattr(source, "to_dict"):
        document = dict(source) if isinstance(source, Mapping) else source.to_dict()
        return _of_document(document, "the result")
    if isinstance(source, traces.PageTrace):
        return of_pages(source)
    if not isinstance(source, str | os.PathLike):
        raise WriteampError(f"{shown(source)} is not a supported input. Supported: {_VALID}")
    path = Path(source)
    if path.is_dir():
        return read_snapshots(path)
    if trace_format is None:
        item = _of_text(path)
        if item is not None:
            return item
    return _of_trace(path, trace_format, action)


def _of_standard_input(path: Path) -> Input | list[Snapshot]:
    item = _of_content(load(path))
    if item is None:
        raise WriteampError(
            f"standard input is not a supported input. Supported: {_VALID}. Traces must be files"
        )
    return item


def _of_text(path: Path) -> Input | list[Snapshot] | None:
    """Return the content of a text file that is not a trace; None if it may be a trace."""
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
    """Return the input in a text that is not a trace; None if it may be a trace."""
    if f'id="{ELEMENT}"'.encode() in document.content:
        return _of_document(report_of(document.content, document.name).document, document.name)
    fio = _fio_in(document)
    if fio is not None:
        return fio
    if document.text.lstrip().startswith("{"):
        return _of_json(document)
    return snapshots_or_none(document)


def _fio_in(document: Document) -> FioJobs | None:
    """Return the fio jobs or fio output in a text, or None."""
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
    value = document.json
    # Results of writeamp come first: they also name a device, like logs of drives.
    is_own = is_output(value) or (isinstance(value, Mapping) and signed_verb(value) is not None)
    snapshots = None if is_own else snapshots_or_none(document)
    return _of_document(value, document.name) if snapshots is None else snapshots


def _of_fio(document: Document) -> FioOutput:
    """Return fio's output; if the file has a document per interval, the last one is used."""
    start = max(0, document.text.rfind("{", 0, document.text.rfind(_VERSION_KEY)))
    value = Document(document.name, document.text[start:].encode()).json
    if not is_output(value):
        raise WriteampError(f"{document.name} is JSON output of fio, but has no jobs")
    return read_output(value, document.text[: document.text.find("{")].strip(), document.name)


def _of_document(document: Any, name: str) -> Input:
    if is_output(document):
        return read_output(document, "", name)
    verb = _verb(document) if isinstance(document, Mapping) else None
    if verb is None:
        raise WriteampError(f"{name} is JSON, but not a supported input. Supported: {_VALID}")
    return ResultDocument(name, verb, document)


def _verb(document: Mapping[str, Any]) -> str | None:
    of_others = (verb for verb, keys in _OTHER_RESULTS.items() if keys <= document.keys())
    return signed_verb(document) or next(of_others, None)


def _of_trace(path: Path, trace_format: str | None, action: str | None) -> TraceFacts:
    if trace_format is None:
        file = file_path(path)
        head = read_head(file)
        is_of_format = any(trace_format.matches(head) for trace_format in traces.FORMATS.values())
        if not is_of_format and suggestion_of(file, head) is None:
            raise WriteampError(
                f"{path} is not a supported input. Supported: {_VALID}. For a trace, set its "
                "format with --format"
            )
    return of_trace(traces.read(path, trace_format, action=action, origins=False))
