"""Mixture of the runs of all drives that a learnt profile may be, by their probabilities."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.optimize import brentq  # type: ignore[import-untyped]
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
# Probability of the interval of a learnt profile.
LEVEL = 0.95


@dataclass(frozen=True)
class CandidateRun:
    """One drive that the profile may be, and what the workload comes to on it."""

    candidate: Candidate
    wa: float
    half_width: float
    steady: bool

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON types."""
        return self.candidate.to_dict() | {"wa": json_number(self.wa), "steady": self.steady}


@dataclass(frozen=True, repr=False, eq=False)
class Mixture(OneLine, Drawn):
    """Write amplification of a drive that is known by its candidates only.

    `error` is the relative error of predictions beside that of the candidates.
    """

    level = LEVEL

    profile: str
    load_name: str
    runs: tuple[CandidateRun, ...]
    error: float
    drive_notes: tuple[str, ...] = ()
    elapsed_s: float = field(default=0.0, compare=False)

    @property
    def wa(self) -> float:
        """Median of the mixture."""
        return self._quantile(0.5)

    @property
    def interval(self) -> tuple[float, float]:
        """Interval that holds `wa` with the probability `level`."""
        return self.interval_at(self.level)

    def interval_at(self, level: float) -> tuple[float, float]:
        """Return the interval that holds `wa` with a probability: both tails are alike."""
        tail = round((1 - level) / 2, 9)
        return self._quantile(tail), self._quantile(1 - tail)

    def _quantile(self, share: float) -> float:
        middle, width, weight = self._parts
        if middle.size == 0:
            return math.nan
        low, high = (middle - 8 * width).min(), (middle + 8 * width).max()
        return float(
            np.exp(brentq(lambda at: weight @ ndtr((at - middle) / width) - share, low, high))
        )

    @cached_property
    def _parts(self) -> tuple[Any, Any, Any]:
        """Return the logarithm of WA, its error, and the weight of each candidate."""
        known = [one for one in self.runs if one.wa > 0]
        weight = np.array([one.candidate.weight for one in known])
        of_runs = np.array([one.half_width / one.wa / _NORMAL_95 for one in known])
        return (
            np.log([one.wa for one in known]),
            np.hypot(np.nan_to_num(of_runs, nan=0.02), max(self.error, 1e-4)),
            weight / weight.sum(),
        )

    @property
    def steady(self) -> bool:
        """True if the WA of nearly all of the weight is steady."""
        return not self.warnings

    @property
    def load(self) -> None:
        """None: each candidate has the load in its own pages."""
        return

    @property
    def series(self) -> None:
        """None: each candidate has a course of its own."""
        return

    @property
    def warnings(self) -> list[str]:
        """Sentences that a reader of `wa` should know."""
        drifting = sum(one.candidate.weight for one in self.runs if not one.steady)
        if drifting < 0.05:
            return []
        return [f"not steady on candidates of {drifting:.0%} of the weight: this WA may not last"]

    @property
    def notes(self) -> list[str]:
        """Sentences on what was assumed."""
        return [
            f"{self.profile} was learnt from a drive: WA is that of its {len(self.runs)} most "
            "probable candidates",
            *self.drive_notes,
        ]

    def to_dict(self, *, series: bool = False, theory: bool = True) -> dict[str, Any]:
        """Return the mixture as JSON types, with the keys of `writeamp simulate --json`.

        Args:
            series: changes nothing, as a mixture has no course over time.
            theory: changes nothing, as theory is of one drive.
        """
        return {
            "wa": self.wa,
            "wa_ci95": list(self.interval),
            "wa_ci90": list(self.interval_at(0.9)),
            "workload": self.load_name,
            "device": self.profile,
            "steady": self.steady,
            "error": self.error,
            "candidates": [one.to_dict() for one in self.runs],
            "warnings": self.warnings,
            "notes": self.notes,
        }

    def facts_of_wa(self) -> dict[str, Any]:
        """Return what a result of these candidates has beside its WA: 90% interval, and each."""
        return {
            "wa_ci90": list(self.interval_at(0.9)),
            "candidates": [one.to_dict() for one in self.runs],
        }

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each candidate."""
        import polars as pl  # noqa: PLC0415 (slow)

        return pl.DataFrame([one.to_dict() for one in self.runs])

    def figure(self) -> BarChart:
        """Describe WA of each candidate."""
        values = tuple(one.wa for one in self.runs)
        return BarChart(
            title=f"Write amplification of {self.profile}: {self.load_name}",
            subtitle=str(self),
            x_label=WA_LABEL,
            bars=tuple(
                f"{one.candidate.manager}, {one.candidate.victims}, op {one.candidate.op:.4f}, "
                f"{one.candidate.erase_unit_pages} pages"
                for one in self.runs
            ),
            layers=(Layer(WA_LABEL, SERIES_COLORS[0], values),),
            texts=tuple(f"{one.wa:.3f} ({one.candidate.weight:.0%})" for one in self.runs),
        )

    def card(self) -> Card:
        """Return the main facts in words."""
        rows = [
            ("write amplification", f"{self.wa:.4f}"),
            ("90% interval", "{:.4f} to {:.4f}".format(*self.interval_at(0.9))),
            ("95% interval", "{:.4f} to {:.4f}".format(*self.interval)),
            ("workload", self.load_name),
            ("learnt drive", self.profile),
            *(
                (
                    f"{one.candidate.manager}, {one.candidate.victims}",
                    f"weight {one.candidate.weight:.1%}, op {one.candidate.op:.4f}, erase unit "
                    f"{one.candidate.erase_unit_pages} pages: WA {one.wa:.4f}",
                )
                for one in self.runs
            ),
        ]
        return Card("Prediction", rows, warnings=self.warnings, notes=self.notes)

    def __str__(self) -> str:
        """Return the result in a line."""
        wa = with_interval(self.wa, self.interval, name=interval_name(of_profile=True))
        return f"WA {wa} of {self.load_name}"


@dataclass(frozen=True)
class OfCandidates(Substitute):
    """WA of all candidates, in the place of that of the first of them."""

    mixture: Mixture
    level: ClassVar[float | None] = LEVEL

    def wa_of(self, own: float) -> float:
        """Return the median of the mixture."""
        return self.mixture.wa

    def widened(self, interval: tuple[float, float]) -> tuple[float, float]:
        """Return the interval of the mixture."""
        return self.mixture.interval

    def judged(self, steady: bool, reason: str) -> tuple[bool, str]:
        """Return what the first candidate says, unless much of the weight is not steady."""
        warnings = self.mixture.warnings
        return (False, warnings[0]) if warnings else (steady, reason)

    def facts_of_wa(self) -> dict[str, Any]:
        """Return the 90% interval, and each candidate."""
        return self.mixture.facts_of_wa()
