"""Fit of a twin: the hidden parameters of a drive, each with its interval or probability."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from writeamp.devices.candidates import Candidate, Candidates
from writeamp.learn.twin.families import Variant
from writeamp.learn.twin.likelihood import STEP_OF_LOG2_UNIT, USUAL_NOISE, Floats, Weighed, weigh
from writeamp.learn.twin.profile import condensed, profile_tables
from writeamp.learn.twin.refining import refined
from writeamp.learn.twin.serving import Measured
from writeamp.learn.twin.table import CandidateTable, table_of
from writeamp.plots.spec import Line, LineChart
from writeamp.results.any_result import OneLine
from writeamp.results.card import Card
from writeamp.results.drawn import Drawn
from writeamp.runners import Progress, Runner

if TYPE_CHECKING:
    import polars as pl

_LEVEL = 0.9
# A family (pair of placement and victim policy) counts as indistinguishable from a better family if
# their log-likelihoods differ by less than this.
_ALIKE = 2.0
# The unexplained relative error of the windows times this value is added in quadrature to the error
# of predictions. Measured with families removed from the table
# (benches/results/2026-11-26-twin.md).
_BEYOND_THE_CHAIN = 4.0
# A misfit above this means that no candidate resembles the drive, so a warning is given.
_STRANGE = 2.5


@dataclass(frozen=True, repr=False, eq=False)
class Fit(OneLine, Drawn):
    """Hidden parameters of a drive, inferred from its windows.

    `op` is (T-U)/U, with T physical and U logical pages; `erase_unit_pages` is the number of pages
    that are erased at once. `misfit` is the error of the windows divided by the error that noise
    and the table explain, and at least 1. If it is clearly above 1, no candidate matches the drive;
    the fit then assumes more noise, which widens the intervals.
    """

    windows: Measured
    weighed: Weighed
    variants: tuple[Variant, ...]

    @cached_property
    def _unit_pages(self) -> Floats:
        return np.exp2(self.weighed.log2_unit)

    @cached_property
    def _op(self) -> Floats:
        """Op of each candidate on a drive of the measured capacity, with its tied blocks."""
        tied = np.array([variant.tied_blocks for variant in self.variants])[self.weighed.variant]
        pages = self.windows.logical_pages
        return np.exp(self.weighed.log_op) + tied * self._unit_pages / pages

    def _quantiles(self, values: Floats) -> tuple[float, float, float]:
        order = np.argsort(values)
        below = np.cumsum(self.weighed.weight[order])
        ends = (0.5, (1 - _LEVEL) / 2, (1 + _LEVEL) / 2)
        middle, low, high = np.interp(ends, below - self.weighed.weight[order] / 2, values[order])
        return float(middle), float(low), float(high)

    @cached_property
    def op(self) -> tuple[float, float, float]:
        """Median of op, and the ends of its 90% interval."""
        return tuple(map(float, np.exp(self._quantiles(np.log(self._op)))))  # type: ignore[return-value]

    @cached_property
    def erase_unit_pages(self) -> tuple[float, float, float] | None:
        """Median of the erase unit in pages, and the ends of its 90% interval; None if unknown."""
        return None if isinstance(self._erase_unit, str) else self._erase_unit

    @cached_property
    def _erase_unit(self) -> tuple[float, float, float] | str:
        """Erase unit as `erase_unit_pages`, or the reason why it is unknown."""
        middle, low, high = self._quantiles(self.weighed.log2_unit)
        # Neighbouring candidates differ by one step of the erase unit. Each represents half a step
        # on either side, so the interval is half a step longer at both ends.
        half = STEP_OF_LOG2_UNIT / 2
        fitted = float(2**middle), float(2 ** (low - half)), float(2 ** (high + half))
        return self.windows.erase_unit(fitted, self.op[0])

    @cached_property
    def families(self) -> list[dict[str, Any]]:
        """Placement, victim policy and probability of each family, the most probable first."""
        weights: dict[tuple[str, str], float] = {}
        of_variant = np.bincount(
            self.weighed.variant, self.weighed.weight, minlength=len(self.variants)
        )
        for variant, weight in zip(self.variants, of_variant, strict=True):
            weights[variant.family] = weights.get(variant.family, 0.0) + float(weight)
        rows = sorted(weights.items(), key=lambda item: -item[1])
        return [
            {"manager": manager, "victims": victims, "weight": weight}
            for (manager, victims), weight in rows
            if weight > 1e-4
        ]

    @cached_property
    def classes(self) -> list[list[str]]:
        """Classes of indistinguishable families, the most probable class first."""
        best: dict[tuple[str, str], float] = {}
        for variant, value in zip(self.variants, self.weighed.best, strict=True):
            best[variant.family] = max(best.get(variant.family, -math.inf), float(value))
        left = [(family["manager"], family["victims"]) for family in self.families]
        classes = []
        while left:
            top = max(best[family] for family in left)
            alike = [family for family in left if best[family] > top - _ALIKE]
            classes.append([", ".join(family) for family in alike])
            left = [family for family in left if family not in alike]
        return classes

    @cached_property
    def separation_probability(self) -> float:
        """Probability that hot or moved pages are in blocks separate from other host writes."""
        return self._weight_of([variant.separates for variant in self.variants])

    def _weight_of(self, has_flag: Sequence[bool]) -> float:
        """Return the total weight of the variants whose entry in `has_flag` is true."""
        return float(self.weighed.weight[np.array(has_flag)[self.weighed.variant]].sum())

    @property
    def noise(self) -> float:
        """Fitted relative standard deviation of a window's WA, with unexplained differences."""
        return self.weighed.scale

    @property
    def misfit(self) -> float:
        """Ratio of the windows' error to the expected error, at least 1."""
        expected = USUAL_NOISE if self.windows.noise is None else self.windows.noise
        return max(1.0, self._seen / math.hypot(expected, self.weighed.table_error))

    @property
    def _seen(self) -> float:
        """Relative error of a window's WA, from noise and the table's error together."""
        return math.hypot(self.weighed.scale, self.weighed.table_error)

    @property
    def error(self) -> float:
        """Relative error of a prediction of WA, without the uncertainty of the parameters."""
        # If no candidate matches the drive, its mismatch looks like noise. So without repeats, at
        # most the usual noise is subtracted.
        own = self.windows.noise or USUAL_NOISE
        if not self.windows.is_repeated:
            own = min(own, USUAL_NOISE)
        beyond = math.sqrt(max(self.weighed.scale**2 - own**2, 0.0))
        return math.hypot(self.windows.model_error, _BEYOND_THE_CHAIN * beyond)

    @cached_property
    def candidates(self) -> tuple[Candidate, ...]:
        """Representative candidates of the measured drive's size, the most probable first."""
        return condensed(self.weighed, self._op, self.variants, self.windows.logical_pages)

    def profile(self) -> dict[str, Any]:
        """Return the tables of a device profile that every command accepts."""
        document = self.to_dict()
        names = ("op", "op_low", "op_high", "families", "separation_probability", "misfit", "noise")
        posterior = {name: document[name] for name in names}
        units = ("erase_unit_pages", "erase_unit_pages_low", "erase_unit_pages_high")
        posterior |= {name: document[name] for name in units if document[name] is not None}
        return profile_tables(
            Candidates(self.windows.logical_pages, self.error, self.candidates),
            self.windows.served.page_bytes,
            str(self),
            posterior
            | {"classes": self.classes, "sequential_factor": document["sequential_factor"]}
            | self.windows.facts(),
        )

    @property
    def warnings(self) -> list[str]:
        """Warnings on the fit: no matching candidate, or an uncertain erase unit."""
        sentences = []
        if self.misfit > _STRANGE:
            sentences.append(
                f"no candidate explains this drive: its WA in a window is off by {self._seen:.1%}, "
                f"{self.misfit:.1f} times the expected error, so the intervals are wide"
            )
        _, low, high = self.erase_unit_pages or (1.0, 1.0, 1.0)
        if high / low > 4:
            sentences.append(
                f"the erase unit is uncertain: {low:.0f} to {high:.0f} pages. Measure with aligned "
                "chunks (--chunks)"
            )
        return sentences

    @property
    def notes(self) -> list[str]:
        """Notes on the fill's WA, and on properties that windows cannot determine."""
        sentences = list(self.windows.notes)
        if self.windows.sequential_factor - 1 >= 0.005:
            sentences.append(
                f"the sequential fill has a WA of {self.windows.sequential_factor:.4f} (parity, "
                "metadata); the WA of all windows is divided by it, and simulations with "
                "the profile lack it"
            )
        if self._weight_of([variant.requires_hints for variant in self.variants]) > 0.05:
            sentences.append(
                "some probable policies need host hints about similar pages; a simulated workload "
                "can send such hints, but plain requests to a real drive cannot"
            )
        if self._weight_of([variant.separates_for_nothing for variant in self.variants]) > 0.05:
            sentences.append(
                "with FIFO or random victims WA hardly depends on the placement, so it is "
                "uncertain whether this drive separates hot and cold pages"
            )
        return sentences

    def to_dict(self) -> dict[str, Any]:
        """Return the fit as JSON types, with the keys of `writeamp twin fit --json`."""
        op, op_low, op_high = self.op
        unit, unit_low, unit_high = self.erase_unit_pages or (None, None, None)
        return {
            "op": op,
            "op_low": op_low,
            "op_high": op_high,
            "erase_unit_pages": unit,
            "erase_unit_pages_low": unit_low,
            "erase_unit_pages_high": unit_high,
            "families": self.families,
            "classes": self.classes,
            "separation": self.separation_probability > 0.5,
            "separation_probability": self.separation_probability,
            "misfit": self.misfit,
            "noise": self.noise,
            "sequential_factor": self.windows.sequential_factor,
            **self.windows.facts(),
            "windows": self._records(),
            "candidates": [candidate.to_dict() for candidate in self.candidates],
            "warnings": self.warnings,
            "notes": self.notes,
        }

    def _records(self) -> list[dict[str, Any]]:
        low, high = self._bands()
        return [
            record | {"fitted_low": float(low[at]), "fitted_high": float(high[at])}
            for at, record in enumerate(self.windows.records())
        ]

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each window."""
        import polars as pl  # noqa: PLC0415 (slow)

        return pl.DataFrame(self._records())

    def _bands(self) -> tuple[Floats, Floats]:
        """Return the low and high ends of the 90% interval of the candidates' WA in each window."""
        ends = [self._quantiles(column)[1:] for column in self.weighed.log_wa.T]
        low, high = np.exp(np.array(ends)).T
        return low, high

    def figure(self) -> LineChart:
        """Return a figure of WA over windows: the measured values, and the candidates' interval."""
        from writeamp.plots.style import MUTED, SERIES_COLORS  # noqa: PLC0415

        rows = self._records()
        at = [float(row["window"]) for row in rows]
        low, high = self._bands()
        return LineChart(
            title="WA of each window, measured and fitted",
            subtitle=str(self),
            x_label="window of the chain",
            y_label="write amplification",
            lines=(
                Line(at, list(low), MUTED, dash="dash", label="90% interval of the fit"),
                Line(at, list(high), MUTED, dash="dash"),
                Line(
                    at,
                    [row["wa"] for row in rows],
                    SERIES_COLORS[0],
                    label="measured",
                    marker="circle",
                ),
            ),
        )

    def __str__(self) -> str:
        """Return op, the most probable family and the erase unit in a line."""
        op, low, high = self.op
        first = self.families[0]
        unit = self.erase_unit_pages
        of_unit = "" if unit is None else f", erase unit about {unit[0]:.0f} pages"
        return (
            f"op {op:.4f} ({low:.4f} to {high:.4f}), {first['manager']}, {first['victims']} "
            f"({first['weight']:.0%}){of_unit}"
        )

    def card(self) -> Card:
        """Return the main results as a card."""
        op, low, high = self.op
        unit = self._erase_unit
        rows = [
            ("op", f"{op:.4f} (90% interval {low:.4f} to {high:.4f})"),
            (
                "erase unit",
                f"unknown: {unit}"
                if isinstance(unit, str)
                else "{:.0f} pages (90% interval {:.0f} to {:.0f})".format(*unit),
            ),
            ("probability of hot/cold separation", f"{self.separation_probability:.1%}"),
            *(
                (
                    f"probability of {family['manager']}, {family['victims']}",
                    f"{family['weight']:.1%}",
                )
                for family in self.families[:5]
            ),
            ("managers and victim policies that fit equally well", "; or ".join(self.classes[0])),
            ("noise of a window's WA", f"{self.noise:.2%}"),
            ("misfit: error ÷ expected error, at least 1", f"{self.misfit:.2f}"),
            ("WA of the sequential fill", f"{self.windows.sequential_factor:.4f}"),
        ]
        return Card("Twin", rows, warnings=self.warnings, notes=self.notes)


def fit(
    windows: Measured,
    *,
    table: CandidateTable | None = None,
    runner: Runner | None = None,
    progress: Progress | None = None,
) -> Fit:
    """Return the hidden parameters of the drive with these windows.

    Args:
        windows: from `measure` or a file.
        table: WA of candidates under the same chain; by default, it comes from the user's cache,
            and missing candidates are simulated.
        runner: runs the simulations.
        progress: called with the number of finished simulations, and of all.

    Returns:
        `Fit`: `op` and `erase_unit_pages` (each the median and the ends of its 90% interval),
        `families` and their probabilities, `candidates`, `profile()`, `warnings`.

    Raises:
        WriteampError: no candidate can serve the chain.
    """
    windows.check()
    if table is None:
        table = table_of(
            windows.served, families=windows.families, runner=runner, progress=progress
        )
    weighed = weigh(table, windows.wa, windows.noise)
    return Fit(windows, refined(table, weighed, windows, progress), table.variants)
