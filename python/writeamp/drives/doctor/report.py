"""Report of the doctor: what was read, and the findings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from writeamp.drives.doctor.finding import SEVERITIES, Finding, Severity, Unjudged, WaEstimate
from writeamp.results.card import Card, Presented
from writeamp.results.equality import ComparedByValue
from writeamp.results.frames import frame_of
from writeamp.results.numbers import four_digits

if TYPE_CHECKING:
    import polars as pl

# Whose columns are those of a frame without a row.
_NONE = Finding("", "note", "", "", "", "", WaEstimate(1.0, 1.0, 1.0), WaEstimate(1.0, 1.0, 1.0))


@dataclass(frozen=True, eq=False)
class DoctorReport(Presented, ComparedByValue):
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
