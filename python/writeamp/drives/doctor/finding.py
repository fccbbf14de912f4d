"""Findings, and the checks that produce them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

Severity: TypeAlias = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")


class WaEstimate(NamedTuple):
    """Write amplification from a simulation, with its 95% interval."""

    wa: float
    low: float
    high: float


def exactly(wa: float) -> WaEstimate:
    """Return a write amplification that was computed from counters instead of simulated."""
    return WaEstimate(wa, wa, wa)


@dataclass(frozen=True)
class Finding:
    """Detected mistake.

    Attributes:
        id: id of the check.
        severity: "error" if the measured number is wrong, "warning" if it may be wrong, or "note".
        message: sentence that describes the mistake.
        evidence: values that show the mistake.
        advice: what to change.
        where: file, and the jobs in it.
        wa_now, wa_fixed: measured and corrected write amplification, from a simulation or from
            counters; None if unknown.
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


def _numbers(name: str, estimate: WaEstimate | None) -> dict[str, Any]:
    if estimate is None:
        return {name: None, f"{name}_ci95": None}
    return {name: estimate.wa, f"{name}_ci95": [estimate.low, estimate.high]}


class Mistake(NamedTuple):
    """Mistake as detected by a check; for texts that are None, those of the check are used.

    `now` and `fixed` are the measured and the corrected WA, or select its simulation: the name of a
    method of `SmallDrive`, and its arguments. `effect` is added to the message if both are known;
    it may have {now}, {fixed} and {change}, the relative difference of the two.
    """

    evidence: str
    jobs: tuple[str, ...] = ()
    message: str | None = None
    advice: str | None = None
    severity: Severity | None = None
    now: tuple[Any, ...] | WaEstimate | None = None
    fixed: tuple[Any, ...] | WaEstimate | None = None
    effect: str = ""


class NotJudged(NamedTuple):
    """Reason why a check cannot judge jobs of an input: information is missing."""

    reason: str
    jobs: tuple[str, ...] = ()


# Mistakes that a check has found, and inputs that it could not judge.
Judgements: TypeAlias = Iterator[Mistake | NotJudged]


class Unjudged(NamedTuple):
    """Check that could not be made: its id, the missing information, and the file with the jobs."""

    id: str
    reason: str
    where: str

    def in_words(self) -> str:
        """Return the check and the missing information as a line of text."""
        return f"not judged: {self.id} of {self.where}: {self.reason}"


InputKind: TypeAlias = Literal["fio job", "fio output", "trace", "result", "counters", "several"]
# Types of input of the checks, in words; jobs come from job files, command lines and JSON output.
KINDS: dict[InputKind, str] = {
    "fio job": "fio's jobs",
    "fio output": "fio's JSON",
    "trace": "traces",
    "result": "results",
    "counters": "snapshots",
    "several": "several inputs",
}


@dataclass(frozen=True)
class DoctorCheck:
    """Check of the doctor: its texts, and a function for each type of input.

    Attributes:
        id: id of the check, in plain words.
        severity: severity of a finding, unless its mistake states another.
        message: sentence that describes the mistake.
        advice: what to change.
        source: reference that describes the mistake.
        of: function that applies the check, by type of input.
    """

    id: str
    severity: Severity
    message: str
    advice: str
    source: str
    of: Mapping[InputKind, Callable[[Any], Judgements]]
