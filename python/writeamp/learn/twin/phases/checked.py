"""Result of a check: for each phase, measured WA beside the WA that a twin predicts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from writeamp.learn.twin.phases.counted import GIB, CountedPhase, CountedWindow
from writeamp.plots.figures.predictions import Prediction, predicted_and_measured
from writeamp.plots.spec import BarChart
from writeamp.results.any_result import OneLine
from writeamp.results.card import Card
from writeamp.results.drawn import Drawn

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class PredictedWa:
    """Median of the predicted WA of a window, and the ends of its 90% interval."""

    median: float
    low: float
    high: float

    def facts(self) -> dict[str, float]:
        """Return the values with the keys of the JSON."""
        return {"predicted": self.median, "predicted_low": self.low, "predicted_high": self.high}


@dataclass(frozen=True)
class CheckedWindow:
    """Measured and predicted WA of a window; None if it has too few rows, or no prediction."""

    measured: CountedWindow | None
    predicted: PredictedWa | None

    @property
    def error(self) -> float | None:
        """Predicted over measured WA, minus 1; None without both."""
        if self.measured is None or self.predicted is None:
            return None
        return self.predicted.median / self.measured.wa - 1

    @property
    def holds(self) -> bool | None:
        """Whether the measured WA is in the predicted interval; None without both."""
        if self.measured is None or self.predicted is None:
            return None
        return self.predicted.low <= self.measured.wa <= self.predicted.high

    def to_dict(self) -> dict[str, Any]:
        """Return the window as JSON types."""
        measured, predicted = self.measured, self.predicted
        low, high = (None, None) if measured is None else measured.bounds
        nothing = dict.fromkeys(("predicted", "predicted_low", "predicted_high"))
        return {
            "wa": None if measured is None else measured.wa,
            "wa_low": low,
            "wa_high": high,
            **(nothing if predicted is None else predicted.facts()),
            "error": self.error,
            "holds": self.holds,
        }


@dataclass(frozen=True)
class CheckedPhase:
    """A phase, and a twin's prediction for it.

    Attributes:
        phase: the phase.
        steady: its steady window.
        fifths: windows of a fifth of the host bytes each.
        learnt_from: names of the phases from which the prediction was learnt; empty without one.
        by_twin_alone: steady WA predicted with the WA of the twin's own fills, not with that of the
            fill before the phase.
        is_learnt: True if the twin was learnt from this phase.
        reason: why the measured or the predicted WA is missing; None if neither is.
        note: how the simulated load differs from that of the phase; None if it does not.
    """

    phase: CountedPhase
    steady: CheckedWindow
    fifths: tuple[CheckedWindow, ...]
    learnt_from: tuple[str, ...] = ()
    by_twin_alone: float | None = None
    is_learnt: bool = False
    reason: str | None = None
    note: str | None = None

    @property
    def is_test(self) -> bool:
        """True if the phase tests the twin: a load with both WA, not a fill, and not learnt."""
        return self.steady.error is not None and not (self.is_learnt or self.phase.load.is_fill)

    def to_dict(self) -> dict[str, Any]:
        """Return the phase as JSON types."""
        return {
            "drive": self.phase.drive,
            "run": self.phase.run,
            "phase": self.phase.number,
            "pattern": self.phase.pattern,
            "details": self.phase.details,
            "span_gib": self.phase.span_bytes / GIB,
            **self.steady.to_dict(),
            "predicted_by_twin_alone": self.by_twin_alone,
            "learnt_from": list(self.learnt_from),
            "fifths": [window.to_dict() for window in self.fifths],
            "reason": self.reason,
            "note": self.note,
        }

    @property
    def cells(self) -> tuple[str, ...]:
        """Texts of the row in a terminal, for a phase with both WA."""
        measured, predicted, error = self.steady.measured, self.steady.predicted, self.steady.error
        assert measured is not None
        assert predicted is not None
        assert error is not None
        held = [window.holds for window in self.fifths if window.holds is not None]
        return (
            self.phase.name,
            f"{_load_of(self.phase)}, {self.phase.span_bytes / GIB:.0f} GiB",
            f"{measured.wa:.4f}",
            f"{predicted.median:.4f}",
            f"{predicted.low:.3f} to {predicted.high:.3f}",
            f"{error:+.1%}",
            "learnt" if self.is_learnt else "yes" if self.steady.holds else "NO",
            f"{sum(held)} of {len(held)}" if held else "",
        )


def _load_of(phase: CountedPhase) -> str:
    return " ".join(filter(None, (phase.pattern, phase.details)))


_COLUMNS = (
    "phase",
    "load",
    ">measured",
    ">predicted",
    ">90% interval",
    ">error",
    "inside",
    "fifths",
)


@dataclass(frozen=True, repr=False, eq=False)
class TwinCheck(OneLine, Drawn):
    """Check of a twin against phases with measured WA.

    Attributes:
        twin: name of the profile.
        drive: name of the twin's drive.
        phases: all phases of the table.
        reading_notes: notes on phases that were read otherwise than the table states.
    """

    twin: str
    drive: str
    phases: tuple[CheckedPhase, ...]
    reading_notes: tuple[str, ...] = ()

    @property
    def tests(self) -> tuple[CheckedPhase, ...]:
        """Phases that test the twin; see `CheckedPhase.is_test`."""
        return tuple(phase for phase in self.phases if phase.is_test)

    @property
    def summary(self) -> dict[str, Any]:
        """Errors and coverage over the phases that test the twin, and over their fifths.

        Returns:
            `tests` (number), `held` (number inside the interval), `median_error`, `p90_error`
            (absolute, relative to the measured WA), `median_half_width` (of the interval, relative
            to the prediction), `fifths` and `fifths_held`; None for values of no phase.
        """
        errors = [abs(phase.steady.error or 0.0) for phase in self.tests]
        widths = [
            (predicted.high - predicted.low) / 2 / predicted.median
            for phase in self.tests
            if (predicted := phase.steady.predicted) is not None
        ]
        fifths = [
            window.holds
            for phase in self.tests
            for window in phase.fifths
            if window.holds is not None
        ]
        return {
            "tests": len(errors),
            "held": sum(bool(phase.steady.holds) for phase in self.tests),
            "median_error": float(np.median(errors)) if errors else None,
            "p90_error": float(np.quantile(errors, 0.9)) if errors else None,
            "median_half_width": float(np.median(widths)) if widths else None,
            "fifths": len(fifths),
            "fifths_held": sum(fifths),
        }

    def __str__(self) -> str:
        """Return the errors and the coverage in a sentence."""
        summary = self.summary
        if not summary["tests"]:
            return f"{self.twin} predicts no load that it was not learnt from"
        loads = "load" if summary["tests"] == 1 else "loads"
        return (
            f"{self.twin} predicts {summary['tests']} {loads} that it was not learnt from with a "
            f"median error of {summary['median_error']:.1%} (90th percentile "
            f"{summary['p90_error']:.1%}); {summary['held']} of {summary['tests']} measured WA "
            "inside the 90% interval"
        )

    @property
    def warnings(self) -> list[str]:
        """A warning if fewer phases are inside their interval than chance explains."""
        summary = self.summary
        # With at most 10% outside, fewer than 70% inside are unlikely even among few phases.
        if summary["held"] >= 0.7 * summary["tests"]:
            return []
        outside = summary["tests"] - summary["held"]
        return [
            f"{outside} of {summary['tests']} phases are outside their 90% interval, so this twin "
            "does not explain the drive"
        ]

    @property
    def notes(self) -> list[str]:
        """Notes on phases that were read otherwise, or whose load is simulated otherwise."""
        loads = dict.fromkeys(phase.note for phase in self.phases if phase.note is not None)
        return [*self.reading_notes, *loads]

    def to_dict(self) -> dict[str, Any]:
        """Return the check as JSON types, with the keys of `writeamp twin check --json`."""
        return {
            "twin": self.twin,
            "drive": self.drive,
            "summary": str(self),
            **self.summary,
            "phases": [phase.to_dict() for phase in self.phases],
            "warnings": self.warnings,
            "notes": self.notes,
        }

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each phase."""
        import polars as pl  # noqa: PLC0415 (slow)

        left_out = ("fifths", "learnt_from")
        return pl.DataFrame(
            [
                {key: value for key, value in phase.to_dict().items() if key not in left_out}
                for phase in self.phases
            ],
            infer_schema_length=None,
        )

    def card(self) -> Card:
        """Return the WA of all phases with a prediction, and the reasons of the others."""
        predicted = [phase.cells for phase in self.phases if phase.steady.error is not None]
        left_out: dict[str, list[str]] = {}
        for phase in self.phases:
            if phase.steady.error is None:
                left_out.setdefault(phase.reason or "", []).append(phase.phase.name)
        reasons = [
            (f"{len(names)} phase{'s'[: len(names) != 1]}", f"{reason}: {', '.join(names)}")
            for reason, names in left_out.items()
        ]
        columns = ("no prediction", "why")
        parts = [Card("Without a prediction", reasons, columns, is_ruled=False)] if reasons else []
        return Card(f"WA of phases: {self}", predicted, _COLUMNS, parts=parts)

    def figure(self) -> BarChart:
        """Return a figure with the predicted interval of each phase, and its measured WA."""
        drawn = []
        for phase in self.phases:
            measured, predicted = phase.steady.measured, phase.steady.predicted
            if measured is not None and predicted is not None:
                name = f"{phase.phase.name} {phase.phase.pattern}"
                name += " (learnt)" if phase.is_learnt else ""
                values = measured.wa, predicted.median, predicted.low, predicted.high
                drawn.append(Prediction(name, phase.phase.drive, *values))
        title = "Write amplification of each phase, predicted and measured"
        return predicted_and_measured(drawn, title=title, subtitle=str(self))


def checked_without(phase: CountedPhase, reason: str) -> CheckedPhase:
    """Return a phase with its measured WA, and without a prediction for this reason."""
    steady, *fifths = (CheckedWindow(window, None) for window in (phase.steady, *phase.fifths))
    return CheckedPhase(phase, steady, tuple(fifths), reason=reason)
