"""Examination of inputs by all checks, and the report of the findings."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from writeamp.devices.device import SizeLike
from writeamp.drives.doctor.finding import (
    SEVERITIES,
    DoctorCheck,
    Finding,
    Mistake,
    NotJudged,
    Severity,
    Unjudged,
    WaEstimate,
)
from writeamp.drives.doctor.inputs import (
    Input,
    ResultDocument,
    Several,
    kinds_of,
    read_command,
    read_inputs,
    with_unit,
)
from writeamp.drives.doctor.registry import checks
from writeamp.drives.doctor.settings import DoctorSettings
from writeamp.drives.doctor.small_drive import SmallDrive
from writeamp.drives.doctor.traces import TraceFacts
from writeamp.errors import WriteampError
from writeamp.fio.job_file import UNIT_BYTES, FioJobs
from writeamp.fio.output import FioOutput
from writeamp.results.any_result import OneLine
from writeamp.results.card import Card, Presented
from writeamp.results.equality import ComparedByValue
from writeamp.results.frames import frame_of
from writeamp.results.numbers import four_digits
from writeamp.units.ratios import RatioLike

if TYPE_CHECKING:
    import polars as pl

# Finding that provides the columns of the data frame of a report without findings.
_NONE = Finding("", "note", "", "", "", "", WaEstimate(1.0, 1.0, 1.0), WaEstimate(1.0, 1.0, 1.0))


@dataclass(frozen=True, repr=False, eq=False)
class DoctorReport(OneLine, Presented, ComparedByValue):
    """Findings of the doctor, the worst first.

    Attributes:
        inputs: name and detected type of each input, in words.
        findings: mistakes.
        drive: simulated drive, in words, or None.
        notes: sentences about inputs that were not read.
        not_judged: checks for which an input has too little information.
    """

    inputs: tuple[tuple[str, str], ...]
    findings: tuple[Finding, ...]
    drive: str | None
    notes: tuple[str, ...]
    not_judged: tuple[Unjudged, ...] = ()

    def worst(self) -> Severity | None:
        """Return the worst severity of the findings, or None."""
        severities = {finding.severity for finding in self.findings}
        return next((severity for severity in SEVERITIES if severity in severities), None)

    def is_at_least(self, severity: Severity) -> bool:
        """Return whether there is a finding of at least this severity."""
        worst = self.worst()
        return worst is not None and SEVERITIES.index(worst) <= SEVERITIES.index(severity)

    def _records(self) -> Iterable[Mapping[str, Any]]:
        return [finding.to_dict() for finding in self.findings]

    def to_frame(self) -> pl.DataFrame:
        """Return one row per finding, with the keys of `--json` as columns."""
        return super().to_frame() if self.findings else frame_of([_NONE.to_dict()]).clear()

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON types."""
        return {
            "inputs": [{"name": name, "kind": kind} for name, kind in self.inputs],
            "findings": [finding.to_dict() for finding in self.findings],
            "drive": self.drive,
            "notes": list(self.notes),
            "not_judged": [name._asdict() for name in self.not_judged],
        }

    def card(self) -> Card:
        """Return a card of the findings in words."""
        rows = [
            (finding.severity, finding.id, finding.message, in_words(finding), finding.advice)
            for finding in self.findings
        ]
        notes = (*self.notes, *(check.in_words() for check in self.not_judged))
        title = f"Doctor: {', '.join(name for name, _ in self.inputs)}"
        if not rows:
            return Card(title, [("findings", "none")], notes=notes)
        columns = ("severity", "finding", "mistake", "WA", "what to change")
        return Card(title, rows, columns, notes=notes)

    def __str__(self) -> str:
        """Return the number of findings by severity, in one line."""
        counts = [f"{sum(finding.severity == each for finding in self.findings)} {each}s"
                  for each in SEVERITIES]  # fmt: skip
        return f"{', '.join(counts)} in {', '.join(name for name, _ in self.inputs)}"


def in_words(finding: Finding) -> str:
    """Return the effect of a finding on write amplification, or "".

    >>> now, corrected = WaEstimate(1, 1, 1), WaEstimate(3.7, 3.6, 3.8)
    >>> in_words(Finding("", "note", "", "", "", "", now, corrected))
    'measured: 1; corrected: 3.7 ± 0.1'
    """
    parts = [("measured", finding.wa_now), ("corrected", finding.wa_fixed)]
    return "; ".join(
        f"{name}: {_with_error(estimate)}" for name, estimate in parts if estimate is not None
    )


def _with_error(estimate: WaEstimate) -> str:
    error = max(estimate.high - estimate.wa, estimate.wa - estimate.low)
    shown = four_digits(estimate.wa)
    return f"{shown} ± {error:.1g}" if error > 1e-6 else shown


def doctor(
    *sources: Any,
    run: str | None = None,
    trace_format: str | None = None,
    action: str | None = None,
    capacity: SizeLike | None = None,
    simulate: bool = True,
    device: str | None = None,
    size: SizeLike | None = None,
    mapping_unit: SizeLike | None = None,
    op: RatioLike | None = None,
) -> DoctorReport:
    """Find mistakes in benchmarks of write amplification, and simulate the corrected benchmarks.

    No input is run, and no file that an input names is opened, except job files in `run`.

    Args:
        sources: fio job files, scripts that run fio, its JSON output, block traces (or
            `wa.traces.Trace`), results of writeamp or their JSON documents, and counter snapshots
            (files or folders of one drive, in order). The content decides on the type.
        run: command line that runs fio, to be judged too.
        trace_format: format of the traces, if it is ambiguous.
        action: stage of a request that counts in blkparse traces, as for `traces.read`.
        capacity: user capacity of the drive under test in bytes, if the inputs lack it.
        simulate: whether to simulate the effect of each mistake on write amplification.
        device: profile of the simulated drive; default: 256 logical blocks of 64 pages.
        size: user capacity of the simulated drive in bytes.
        mapping_unit: size of a unit of the map of the drive under test; default: 4 KiB, or the page
            of `device`.
        op: over-provisioning (T−U)/U of the simulated drive; default: 0.15, or that of the profile.

    Returns:
        `DoctorReport`: `findings` (each a `Finding`), `worst`, `not_judged`, `notes`.

    Raises:
        WriteampError: an input cannot be read, or its type is not supported.

    >>> import writeamp as wa
    >>> report = wa.doctor("examples/fio/looped-randwrite.fio")
    >>> report.findings[0].id, round(report.findings[0].wa_now.wa, 2)
    ('looped-permutation', 1.0)
    """
    settings = DoctorSettings(
        run=run,
        trace_format=trace_format,
        action=action,
        capacity=capacity,  # type: ignore[arg-type]  # the domain reads texts
        simulate=simulate,
        device=device,
        size=size,  # type: ignore[arg-type]
        mapping_unit=mapping_unit,  # type: ignore[arg-type]
        op=op,  # type: ignore[arg-type]
    )
    if not sources and run is None:
        raise WriteampError("no input: pass a file, or a command line of fio")
    drive = SmallDrive(settings.device, settings.op, settings.size)
    several = read_inputs(sources, settings.trace_format, settings.capacity, action=settings.action)
    if run is not None:
        commands = read_command(run, settings.capacity)
        if not any(command.jobs or command.named for command in commands):
            raise WriteampError("the command does not run fio. Pass a command line that runs fio")
        several = Several((*several.inputs, *commands))
    several = with_unit(several, _unit_bytes(settings, drive))
    examination = examined(several, drive if settings.simulate else None)
    return DoctorReport(
        tuple((item.name, _kind_in_words(item)) for item in several.inputs),
        tuple(examination.findings),
        drive.in_words() if drive.has_simulated else None,
        (*(note for jobs in several.of(FioJobs) for note in _notes(jobs)), *examination.notes),
        tuple(examination.not_judged),
    )


def _unit_bytes(settings: DoctorSettings, drive: SmallDrive) -> int:
    unit = settings.mapping_unit
    if unit is not None and unit % UNIT_BYTES:
        raise WriteampError(
            f"mapping_unit is {unit} bytes; it must be a multiple of {UNIT_BYTES} bytes"
        )
    if settings.device is None:
        return unit or UNIT_BYTES
    if unit is not None:
        raise WriteampError(
            f"mapping_unit and device exclude each other, as {settings.device} has its own unit; "
            "leave one out"
        )
    return drive.device.page_bytes


def _notes(fio: FioJobs) -> Iterator[str]:
    yield from fio.notes
    if fio.jobs and not fio.writers and not any("rw" in job.unknown for job in fio.jobs):
        yield f"{fio.name}: no job writes to a drive, so WA is undefined"
    if not (fio.jobs or fio.named or fio.notes):
        yield f"{fio.name}: no call of fio with a job was recognized, so no job is judged"
    for name in fio.named:
        yield (
            f"{fio.name} names {name}, which was not read. To examine it, run `writeamp doctor "
            f"{shlex.quote(name)}`"
        )


class Examined(NamedTuple):
    """Findings of all checks, the worst first, checks that could not be made, and notes.

    The notes are on mistakes whose write amplification could not be simulated.
    """

    findings: list[Finding]
    not_judged: list[Unjudged]
    notes: list[str]


def examined(several: Several, drive: SmallDrive | None) -> Examined:
    """Return the findings of all checks on inputs.

    Args:
        several: the inputs.
        drive: drive to simulate on; None for no simulation.
    """
    findings: list[Finding] = []
    not_judged: list[Unjudged] = []
    notes: list[str] = []
    for check in checks():
        for item in (*several.inputs, several):
            judgements = [
                each for kind in kinds_of(item) if kind in check.of for each in check.of[kind](item)
            ]  # fmt: skip
            findings += _findings(check, item, judgements, drive, notes)
            not_judged += [
                Unjudged(check.id, each.reason, _where(item, each.jobs))
                for each in judgements
                if isinstance(each, NotJudged)
            ]
    findings.sort(key=lambda finding: SEVERITIES.index(finding.severity))
    return Examined(findings, list(dict.fromkeys(not_judged)), list(dict.fromkeys(notes)))


def _findings(
    check: DoctorCheck,
    source: Input | Several,
    judgements: Iterable[Mistake | NotJudged],
    drive: SmallDrive | None,
    notes: list[str],
) -> Iterator[Finding]:
    for alike in _alike(each for each in judgements if isinstance(each, Mistake)):
        first = alike[0]
        jobs = tuple(dict.fromkeys(job for each in alike for job in each.jobs))
        now, fixed = (
            _estimate(check.id, request, drive, notes) for request in (first.now, first.fixed)
        )
        yield Finding(
            check.id,
            first.severity or check.severity,
            (first.message or check.message) + _effect(first.effect, now, fixed),
            _evidence(alike),
            first.advice or check.advice,
            _where(source, jobs),
            now,
            fixed,
        )


def _effect(text: str, now: WaEstimate | None, fixed: WaEstimate | None) -> str:
    """Return the effect of a mistake as a further sentence, or "" if it was not simulated."""
    if not text or now is None or fixed is None:
        return ""
    change = f"{100 * (now.wa / fixed.wa - 1):+.1f}%".replace("-", "−")
    values = {"now": f"{now.wa:.3f}", "fixed": f"{fixed.wa:.3f}", "change": change}
    return f". {text.format(**values)}"


def _where(source: Input | Several, jobs: tuple[str, ...]) -> str:
    return source.name + (f": {', '.join(jobs)}" if jobs else "")


def _alike(mistakes: Iterable[Mistake]) -> Iterator[list[Mistake]]:
    """Yield groups of mistakes with equal severity, message and WA; each group is one finding."""

    def key(mistake: Mistake) -> tuple[str, ...]:
        return (
            mistake.severity or "",
            mistake.message or "",
            repr(mistake.now),
            repr(mistake.fixed),
        )

    for _, alike in groupby(sorted(mistakes, key=key), key):
        yield list(alike)


def _evidence(alike: list[Mistake]) -> str:
    by_text: dict[str, list[str]] = {}
    for mistake in alike:
        by_text.setdefault(mistake.evidence, []).extend(mistake.jobs)
    if len(by_text) == 1:
        return alike[0].evidence
    return "; ".join(
        f"{', '.join(dict.fromkeys(jobs))}: {text}" if jobs else text
        for text, jobs in by_text.items()
    )


def _estimate(
    check: str,
    request: tuple[Any, ...] | WaEstimate | None,
    drive: SmallDrive | None,
    notes: list[str],
) -> WaEstimate | None:
    if request is None or isinstance(request, WaEstimate):
        return request
    try:
        return None if drive is None else drive.estimate(*request)
    except WriteampError as error:
        notes.append(f"WA of {check} was not simulated: {error}")
        return None


def _kind_in_words(source: Input) -> str:
    if isinstance(source, ResultDocument):
        return f"a result of {source.verb}"
    if isinstance(source, FioJobs):
        if isinstance(source, FioOutput):
            return "fio's JSON output"
        return "command lines of fio" if source.commands else "a fio job file"
    return "a block trace" if isinstance(source, TraceFacts) else "counter snapshots"
