"""Findings, and the checks that make them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

Severity: TypeAlias = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")


class WaEstimate(NamedTuple):
    """Write amplification of a simulation, with its 95% interval."""

    wa: float
    low: float
    high: float


def exactly(wa: float) -> WaEstimate:
    """Return a write amplification that was divided, not simulated."""
    return WaEstimate(wa, wa, wa)


@dataclass(frozen=True)
class Finding:
    """A mistake that was found.

    Attributes:
        id: of the check.
        severity: error, if the number is not of what was meant; warning, if it may not be; note.
        message: a sentence that says what is wrong.
        evidence: what says so.
        advice: what to change.
        where: the file, and within it the jobs.
        wa_now, wa_fixed: write amplification as it is, and as it would be, by a simulation or by
            the counters; None where nobody knows.
    """

    id: str
    severity: Severity
    message: str
    evidence: str
    advice: str
    where: str
    wa_now: WaEstimate | None = None
    wa_fixed: WaEstimate | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as JSON types."""
        return {
            "id": self.id,
            "severity": self.severity,
            "message": self.message,
            "evidence": self.evidence,
            "advice": self.advice,
            "where": self.where,
            **_numbers("wa_now", self.wa_now),
            **_numbers("wa_fixed", self.wa_fixed),
        }


def _numbers(name: str, found: WaEstimate | None) -> dict[str, Any]:
    if found is None:
        return {name: None, f"{name}_ci95": None}
    return {name: found.wa, f"{name}_ci95": [found.low, found.high]}


class Mistake(NamedTuple):
    """A mistake as its check finds it; None where the check's own words hold.

    `drive` says which simulations give the write amplification, by name of the method of
    `SmallDrive` and its arguments.
    """

    evidence: str
    jobs: tuple[str, ...] = ()
    message: str | None = None
    advice: str | None = None
    severity: Severity | None = None
    now: tuple[Any, ...] | WaEstimate | None = None
    fixed: tuple[Any, ...] | WaEstimate | None = None


class NotJudged(NamedTuple):
    """A check that an input says too little for: what is missing, and of which jobs."""

    reason: str
    jobs: tuple[str, ...] = ()


# What a check yields.
Judgements: TypeAlias = Iterator[Mistake | NotJudged]


class Unjudged(NamedTuple):
    """A check that could not be made: its id, what is missing, and the file with the jobs."""

    id: str
    reason: str
    where: str

    def in_words(self) -> str:
        """Return it as a line."""
        return f"not judged: {self.id} of {self.where}: {self.reason}"


Kind: TypeAlias = Literal["fio job", "fio output", "trace", "result", "counters", "several"]
# What checks look into, in words; jobs are those of job files, command lines and JSON output.
KINDS: dict[Kind, str] = {
    "fio job": "fio's jobs",
    "fio output": "fio's JSON",
    "trace": "traces",
    "result": "results",
    "counters": "snapshots",
    "several": "several inputs",
}


@dataclass(frozen=True)
class DoctorCheck:
    """A check: what it looks for, and the function for each kind of input that it is of.

    Attributes:
        id: plain words.
        severity: of most findings.
        message: a sentence that says what is wrong.
        advice: what to change.
        source: who describes the mistake.
        of: functions by kind, each of one input of that kind.
    """

    id: str
    severity: Severity
    message: str
    advice: str
    source: str
    of: Mapping[Kind, Callable[[Any], Judgements]]
