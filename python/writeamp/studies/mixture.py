"""Mixture of the results on all candidate drives of a learnt profile, by probability."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.special import ndtr  # type: ignore[import-untyped]

from writeamp.devices.candidates import Candidate
from writeamp.plots.spec import BarChart, Layer
from writeamp.plots.style import SERIES_COLORS, WA_LABEL
from writeamp.results.any_result import OneLine
from writeamp.results.card import Card
from writeamp.results.drawn import Drawn
from writeamp.results.numbers import interval_name, json_number, with_interval
from writeamp.runs.substitute import Substitute

if TYPE_CHECKING:
    import polars as pl

_NORMAL_95 = 1.959964
# WA of a sequential fill below which it is not worth a note.
_LEAST_FACTOR = 1.005
# Number of candidates with a row of their own, the most probable ones; the document has all.
_SHOWN_CANDIDATES = 10
# Probability that the interval of a learnt profile contains the WA.
LEVEL = 0.95


@dataclass(frozen=True)
class CandidateRun:
    """A candidate drive of the profile, and the WA of the workload on it."""

    candidate: Candidate
    wa: float
    half_width: float
    steady: bool

    def to_dict(self) -> dict[str, Any]:
        """Return the run as JSON types."""
        return self.candidate.to_dict() | {"wa": json_number(self.wa), "steady": self.steady}


@dataclass(frozen=True, repr=False, eq=False)
class Mixture(OneLine, Drawn):
    """Write amplification of a drive that is described by several candidates.

    `error` is the relative error of the WA that the learnt profile predicts, in addition to the
    errors of the candidates' runs. `sequential_factor` is the drive's WA of a sequential fill,
    which the candidates' WA lacks.
    """

    level = LEVEL

    profile: str
    load_name: str
    runs: tuple[CandidateRun, ...]
    error: float
    drive_notes: tuple[str, ...] = ()
    sequential_factor: float = 1.0
    elapsed_s: float = field(default=0.0, compare=False)

    @property
    def wa(self) -> float:
        """Median WA of the mixture."""
        return self._quantile(0.5)

    @property
    def interval(self) -> tuple[float, float]:
        """Interval that contains WA with the probability `level`."""
        return self.interval_at(self.level)

    def interval_at(self, level: float) -> tuple[float, float]:
        """Return the interval that contains WA with probability `level`; both tails are equal."""
        tail = round((1 - level) / 2, 9)
        return self._quantile(tail), self._quantile(1 - tail)

    def _quantile(self, share: float) -> float:
        from scipy.optimize import brentq  # type: ignore[import-untyped]  # noqa: PLC0415 (slow)

        middle, width, weight = self._parts
        if middle.size == 0:
            return math.nan
        low, high = (middle - 8 * width).min(), (middle + 8 * width).max()
        return float(
            np.exp(
                brentq(lambda log_wa: weight @ ndtr((log_wa - middle) / width) - share, low, high)
            )
        )

    @cached_property
    def _parts(self) -> tuple[Any, Any, Any]:
        """Return, for each candidate, log WA, its standard error, and its normalized weight."""
        usable = [run for run in self.runs if run.wa > 0]
        weight = np.array([run.candidate.weight for run in usable])
        run_errors = np.array([run.half_width / run.wa / _NORMAL_95 for run in usable])
        return (
            np.log([run.wa for run in usable]),
            np.hypot(np.nan_to_num(run_errors, nan=0.02), max(self.error, 1e-4)),
            weight / weight.sum(),
        )

    @property
    def steady(self) -> bool:
        """True if candidates on which WA is not steady have less than 5% of the probability."""
        return not self.warnings

    @property
    def load(self) -> None:
        """None, since each candidate has the load in its own pages."""
        return

    @property
    def series(self) -> None:
        """None, since each candidate has a series of its own."""
        return

    @property
    def warnings(self) -> list[str]:
        """Warnings for readers of `wa`."""
        drifting = sum(run.candidate.weight for run in self.runs if not run.steady)
        if drifting < 0.05:
            return []
        return [
            f"WA is not steady on candidate drives with {drifting:.0%} of the probability, and may "
            "change in a longer run"
        ]

    @property
    def notes(self) -> list[str]:
        """Notes on the profile, and on candidates that were left out."""
        return [
            f"{self.profile} was learnt from a drive: WA is the median over its {len(self.runs)} "
            "most probable candidates (possible drives)",
            *self._notes_on_factor,
            *self.drive_notes,
        ]

    @property
    def _notes_on_factor(self) -> list[str]:
        factor = self.sequential_factor
        if factor < _LEAST_FACTOR:
            return []
        return [
            f"the drive writes {factor:.4g} times as much even for a sequential fill (parity, "
            f"metadata), which WA here lacks: its counters should show {factor * self.wa:.4g}"
        ]

    def to_dict(self, *, series: bool = False, theory: bool = True) -> dict[str, Any]:
        """Return the mixture as JSON types, with the keys of `writeamp simulate --json`.

        Args:
            series: has no effect, because a mixture has no series over time.
            theory: has no effect, because theory describes one drive.
        """
        return {
            "wa": self.wa,
            "wa_ci95": list(self.interval),
            "wa_ci90": list(self.interval_at(0.9)),
            "workload": self.load_name,
            "device": self.profile,
            "steady": self.steady,
            "error": self.error,
            "candidates": [run.to_dict() for run in self.runs],
            "warnings": self.warnings,
            "notes": self.notes,
        }

    def facts_of_wa(self) -> dict[str, Any]:
        """Return the 90% interval and each candidate, in addition to the facts on WA."""
        return {
            "wa_ci90": list(self.interval_at(0.9)),
            "candidates": [run.to_dict() for run in self.runs],
        }

    def to_frame(self) -> pl.DataFrame:
        """Return one row for each candidate."""
        import polars as pl  # noqa: PLC0415 (slow)

        return pl.DataFrame([run.to_dict() for run in self.runs])

    def figure(self) -> BarChart:
        """Return a bar chart of the WA of each candidate drive."""
        values = tuple(run.wa for run in self.runs)
        return BarChart(
            title=f"Write amplification of {self.profile}: {self.load_name}",
            subtitle=str(self),
            x_label=WA_LABEL,
            bars=tuple(
                f"{run.candidate.manager}, {run.candidate.victims}, op {run.candidate.op:.4f}, "
                f"{run.candidate.erase_unit_pages} pages"
                for run in self.runs
            ),
            layers=(Layer(WA_LABEL, SERIES_COLORS[0], values),),
            texts=tuple(f"{run.wa:.3f} ({run.candidate.weight:.0%})" for run in self.runs),
        )

    def _less_probable(self) -> list[tuple[str, str]]:
        """Return one row on all candidates without a row, if there are any."""
        rest = self.runs[_SHOWN_CANDIDATES:]
        if not rest:
            return []
        weight, wa = sum(run.candidate.weight for run in rest), [run.wa for run in rest]
        return [
            (
                f"{len(rest)} less probable candidates",
                f"weight {weight:.1%} in all: WA {min(wa):.4f} to {max(wa):.4f}",
            )
        ]

    def card(self) -> Card:
        """Return the main facts."""
        rows = [
            ("write amplification", f"{self.wa:.4f}"),
            ("90% interval", "{:.4f} to {:.4f}".format(*self.interval_at(0.9))),
            ("95% interval", "{:.4f} to {:.4f}".format(*self.interval)),
            ("workload", self.load_name),
            ("learnt drive", self.profile),
            *(
                (
                    f"{run.candidate.manager}, {run.candidate.victims}",
                    f"weight {run.candidate.weight:.1%}, op {run.candidate.op:.4f}, erase unit "
                    f"{run.candidate.erase_unit_pages} pages: WA {run.wa:.4f}",
                )
                for run in self.runs[:_SHOWN_CANDIDATES]
            ),
            *self._less_probable(),
        ]
        return Card("Prediction", rows, warnings=self.warnings, notes=self.notes)

    def __str__(self) -> str:
        """Return the result in one line."""
        wa = with_interval(self.wa, self.interval, name=interval_name(of_profile=True))
        return f"WA {wa} of {self.load_name}"


@dataclass(frozen=True)
class OfCandidates(Substitute):
    """Relation of a run on the first candidate to the mixture, which replaces the run's WA."""

    mixture: Mixture
    level: ClassVar[float | None] = LEVEL

    def wa_of(self, own: float) -> float:
        """Return the median of the mixture."""
        return self.mixture.wa

    def widened(self, interval: tuple[float, float]) -> tuple[float, float]:
        """Return the WA interval of the mixture."""
        return self.mixture.interval

    def judged(self, steady: bool, reason: str) -> tuple[bool, str]:
        """Return the run's verdict, or False if too many candidates are not steady.

        These are candidates with at least 5% of the probability in total.
        """
        warnings = self.mixture.warnings
        return (False, warnings[0]) if warnings else (steady, reason)

    def facts_of_wa(self) -> dict[str, Any]:
        """Return the 90% interval, and each candidate."""
        return self.mixture.facts_of_wa()
