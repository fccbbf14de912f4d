"""Examination of inputs by every check, and the report of what they find."""

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
from writeamp.drives.doctor.fio.job_file import FioJobs
from writeamp.drives.doctor.fio.output import FioOutput
from writeamp.drives.doctor.inputs import (
    Input,
    ResultDocument,
    Several,
    kinds_of,
    read_command,
    read_inputs,
)
from writeamp.drives.doctor.registry import checks
from writeamp.drives.doctor.settings import DoctorSettings
from writeamp.drives.doctor.small_drive import SmallDrive
from writeamp.drives.doctor.traces import TraceFacts
from writeamp.errors import WriteampError
from writeamp.results.any_result import OneLine
from writeamp.results.card import Card, Presented
from writeamp.results.equality import ComparedByValue
from writeamp.results.frames import frame_of
from writeamp.results.numbers import four_digits
from writeamp.units.ratios import RatioLike

if TYPE_CHECKING:
    import polars as pl

# Whose columns are those of a frame without a row.
_NONE = Finding("", "note", "", "", "", "", WaEstimate(1.0, 1.0, 1.0), WaEstimate(1.0, 1.0, 1.0))


@dataclass(frozen=True, repr=False, eq=False)
class DoctorReport(OneLine, Presented, ComparedByValue):
    """Findings of the doctor, the worst first.

    Attributes:
        inputs: names of what was read, and what each was taken for.
        findings: mistakes.
        drive: the drive that was simulated, in words; None if none was.
        notes: sentences on what was not read.
        not_judged: checks that an input says too little for.
    """

    inputs: tuple[tuple[str, str], ...]
    findings: tuple[Finding, ...]
    drive: str | None
    notes: tuple[str, ...]
    not_judged: tuple[Unjudged, ...] = ()

    def worst(self) -> Severity | None:
        """Return the worst severity; None if nothing was found."""
        found = {one.severity for one in self.findings}
        return next((one for one in SEVERITIES if one in found), None)

    def is_at_least(self, severity: Severity) -> bool:
        """Return whether there is a finding of a severity, or a worse one."""
        worst = self.worst()
        return worst is not None and SEVERITIES.index(worst) <= SEVERITIES.index(severity)

    def _records(self) -> Iterable[Mapping[str, Any]]:
        return [one.to_dict() for one in self.findings]

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each finding, with the keys of `--json` as columns."""
        return super().to_frame() if self.findings else frame_of([_NONE.to_dict()]).clear()

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON types."""
        return {
            "inputs": [{"name": name, "kind": kind} for name, kind in self.inputs],
            "findings": [one.to_dict() for one in self.findings],
            "drive": self.drive,
            "notes": list(self.notes),
            "not_judged": [one._asdict() for one in self.not_judged],
        }

    def card(self) -> Card:
        """Return the findings in words."""
        rows = [
            (one.severity, one.id, one.message, in_words(one), one.advice) for one in self.findings
        ]
        notes = (*self.notes, *(one.in_words() for one in self.not_judged))
        title = f"Doctor: {', '.join(name for name, _ in self.inputs)}"
        if not rows:
            return Card(title, [("findings", "none")], notes=notes)
        columns = ("severity", "finding", "what is wrong", "WA", "what to change")
        return Card(title, rows, columns, notes=notes)

    def __str__(self) -> str:
        """Return the number of findings by severity in a line."""
        counts = [f"{sum(one.severity == each for one in self.findings)} {each}s"
                  for each in SEVERITIES]  # fmt: skip
        return f"{', '.join(counts)} in {', '.join(name for name, _ in self.inputs)}"


def in_words(found: Finding) -> str:
    """Return what a finding says of write amplification; "" if nothing.

    >>> now, mended = WaEstimate(1, 1, 1), WaEstimate(3.7, 3.6, 3.8)
    >>> in_words(Finding("", "note", "", "", "", "", now, mended))
    'yours: 1; mended: 3.7 ± 0.1'
    """
    parts = [("yours", found.wa_now), ("mended", found.wa_fixed)]
    return "; ".join(f"{name}: {_with_error(one)}" for name, one in parts if one is not None)


def _with_error(found: WaEstimate) -> str:
    error = max(found.high - found.wa, found.wa - found.low)
    shown = four_digits(found.wa)
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
    op: RatioLike | None = None,
) -> DoctorReport:
    """Find mistakes in benchmarks of write amplification, and simulate the mended ones.

    Nothing is run, and no file that an input names is opened, but for job files that `run` names.

    Args:
        sources: fio job files, scripts that run fio, its JSON output, block traces (or
            `wa.traces.Trace`), results of writeamp or their JSON documents, and counter snapshots
            (files or folders, of one drive, in order); each is told by its content.
        run: a command line that runs fio, to be judged too.
        trace_format: of the traces among them, where that is not certain.
        action: of blkparse traces, as for `traces.read`.
        capacity: bytes that the host sees of the drive under test, if the inputs do not say.
        simulate: whether to simulate what each mistake does to write amplification.
        device: profile of the drive that is simulated; by default 256 blocks of 64 pages.
        size: bytes that the host sees of it.
        op: its over-provisioning (T−U)/U; by default 0.15, or the profile's.

    Returns:
        `DoctorReport`: `findings` (each a `Finding`), `worst`, `not_judged`, `notes`.

    Raises:
        WriteampError: an input cannot be read, or is none of what can be judged.

    >>> import writeamp as wa
    >>> report = wa.doctor("examples/fio/looped-randwrite.fio")
    >>> report.findings[0].id, round(report.findings[0].wa_now.wa, 2)
    ('looped-permutation', 1.0)
    """
    asked = DoctorSettings(
        run=run,
        trace_format=trace_format,
        action=action,
        capacity=capacity,  # type: ignore[arg-type]  # the domain reads texts
        simulate=simulate,
        device=device,
        size=size,  # type: ignore[arg-type]
        op=op,  # type: ignore[arg-type]
    )
    if not sources and run is None:
        raise WriteampError("there is nothing to judge: give a file, or a command line of fio")
    drive = SmallDrive.of(asked.device, asked.op, asked.size)
    several = read_inputs(sources, asked.trace_format, asked.capacity, action=asked.action)
    if run is not None:
        commands = read_command(run, asked.capacity)
        if not any(one.jobs or one.named for one in commands):
            raise WriteampError("the command does not run fio, so that there is nothing to judge")
        several = Several((*several.inputs, *commands))
    found = examined(several, drive if asked.simulate else None)
    return DoctorReport(
        tuple((one.name, _kind_in_words(one)) for one in several.inputs),
        tuple(found.findings),
        drive.in_words() if drive.has_simulated else None,
        tuple(note for one in several.of(FioJobs) for note in _notes(one)),
        tuple(found.not_judged),
    )


def _notes(fio: FioJobs) -> Iterator[str]:
    yield from fio.notes
    if fio.jobs and not fio.writers and not any("rw" in one.unknown for one in fio.jobs):
        yield f"{fio.name}: no job writes to a drive, so that it has no write amplification"
    if not (fio.jobs or fio.named or fio.notes):
        yield f"{fio.name}: no call of fio with a job is seen, so that nothing is judged"
    for name in fio.named:
        yield f"{name} is named in {fio.name} and not read: `writeamp doctor {shlex.quote(name)}`"


class Examined(NamedTuple):
    """Findings of all checks, the worst first, and the checks that could not be made."""

    findings: list[Finding]
    not_judged: list[Unjudged]


def examined(several: Several, drive: SmallDrive | None) -> Examined:
    """Return what all checks find in inputs.

    Args:
        several: the inputs.
        drive: to simulate on; None for no simulation.
    """
    findings: list[Finding] = []
    not_judged: list[Unjudged] = []
    for check in checks():
        for one in (*several.inputs, several):
            told = [
                each for kind in kinds_of(one) if kind in check.of for each in check.of[kind](one)
            ]  # fmt: skip
            findings += _findings(check, one, told, drive)
            not_judged += [
                Unjudged(check.id, each.reason, _where(one, each.jobs))
                for each in told
                if isinstance(each, NotJudged)
            ]
    findings.sort(key=lambda one: SEVERITIES.index(one.severity))
    return Examined(findings, list(dict.fromkeys(not_judged)))


def _findings(
    check: DoctorCheck,
    one: Input | Several,
    told: Iterable[Mistake | NotJudged],
    drive: SmallDrive | None,
) -> Iterator[Finding]:
    for alike in _alike(each for each in told if isinstance(each, Mistake)):
        first = alike[0]
        jobs = tuple(dict.fromkeys(job for each in alike for job in each.jobs))
        yield Finding(
            check.id,
            first.severity or check.severity,
            first.message or check.message,
            _evidence(alike),
            first.advice or check.advice,
            _where(one, jobs),
            _estimate(first.now, drive),
            _estimate(first.fixed, drive),
        )


def _where(one: Input | Several, jobs: tuple[str, ...]) -> str:
    return one.name + (f": {', '.join(jobs)}" if jobs else "")


def _alike(found: Iterable[Mistake]) -> Iterator[list[Mistake]]:
    """Yield findings that differ in their evidence alone, together."""

    def key(one: Mistake) -> tuple[str, ...]:
        return (one.severity or "", one.message or "", repr(one.now), repr(one.fixed))

    for _, alike in groupby(sorted(found, key=key), key):
        yield list(alike)


def _evidence(alike: list[Mistake]) -> str:
    by_text: dict[str, list[str]] = {}
    for one in alike:
        by_text.setdefault(one.evidence, []).extend(one.jobs)
    if len(by_text) == 1:
        return alike[0].evidence
    return "; ".join(
        f"{', '.join(dict.fromkeys(jobs))}: {text}" if jobs else text
        for text, jobs in by_text.items()
    )


def _estimate(
    asked: tuple[Any, ...] | WaEstimate | None, drive: SmallDrive | None
) -> WaEstimate | None:
    if asked is None or isinstance(asked, WaEstimate):
        return asked
    return None if drive is None else drive.estimate(*asked)


def _kind_in_words(one: Input) -> str:
    if isinstance(one, ResultDocument):
        return f"a result of {one.verb}"
    if isinstance(one, FioJobs):
        if isinstance(one, FioOutput):
            return "fio's JSON output"
        return "command lines of fio" if one.commands else "a fio job file"
    return "a block trace" if isinstance(one, TraceFacts) else "counter snapshots"
