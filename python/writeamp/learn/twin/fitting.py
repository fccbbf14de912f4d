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
from writeamp.learn.twin.table import CandidateTable, table_of
from writeamp.learn.twin.windows import Windows
from writeamp.plots.spec import Line, LineChart
from writeamp.results.any_result import OneLine
from writeamp.results.card import Card
from writeamp.results.drawn import Drawn
from writeamp.runners import Progress, Runner

if TYPE_CHECKING:
    import polars as pl

_LEVEL = 0.9
# Families whose best candidates are so many times as likely as the best of all cannot be told from
# it.
_ALIKE = 2.0
# Error of a prediction of a drive that is of no family of the table though its windows fit, as
# those of other families mostly do; and how much more than in the windows those are off that do
# not fit. Both are those of candidates whose family was taken out of the table
# (benches/results/2026-11-26-twin.md).
_OTHER_FAMILY = 0.04
_BEYOND_THE_CHAIN = 4.0
# A misfit of more is that of a drive that is none of the candidates.
_STRANGE = 2.5


@dataclass(frozen=True, repr=False, eq=False)
class Fit(OneLine, Drawn):
    """Hidden parameters of a drive that its windows tell.

    `op` is (T-U)/U, `erase_unit_pages` what is erased at once. `misfit` is the error of the windows
    as a multiple of what noise and the table explain, at least 1: where it is more, the drive is
    none of the candidates, and intervals are as many times as wide.
    """

    windows: Windows
    weighed: Weighed
    variants: tuple[Variant, ...]

    @cached_property
    def _unit_pages(self) -> Floats:
        return np.exp2(self.weighed.log2_unit)

    @cached_property
    def _op(self) -> Floats:
        """Op of each candidate on a drive as large as the one that was measured."""
        tied = np.array([one.tied_blocks for one in self.variants])[self.weighed.variant]
        pages = self.windows.chain.logical_pages
        return np.exp(self.weighed.log_op) + tied * self._unit_pages / pages

    def _quantiles(self, values: Floats) -> tuple[float, float, float]:
        order = np.argsort(values)
        below = np.cumsum(self.weighed.weight[order])
        ends = (0.5, (1 - _LEVEL) / 2, (1 + _LEVEL) / 2)
        middle, low, high = np.interp(ends, below - self.weighed.weight[order] / 2, values[order])
        return float(middle), float(low), float(high)

    @cached_property
    def op(self) -> tuple[float, float, float]:
        """Median of op, and the ends of its interval."""
        return tuple(map(float, np.exp(self._quantiles(np.log(self._op)))))  # type: ignore[return-value]

    @cached_property
    def erase_unit_pages(self) -> tuple[float, float, float]:
        """Median of the erase unit, and the ends of its interval."""
        middle, low, high = self._quantiles(self.weighed.log2_unit)
        # Each candidate stands for half a step to both sides.
        half = STEP_OF_LOG2_UNIT / 2
        return float(2**middle), float(2 ** (low - half)), float(2 ** (high + half))

    @cached_property
    def families(self) -> list[dict[str, Any]]:
        """Manager, victim policy and weight of each family, the most probable first."""
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
        """Families that cannot be told apart, the most probable class first."""
        best: dict[tuple[str, str], float] = {}
        for variant, value in zip(self.variants, self.weighed.best, strict=True):
            best[variant.family] = max(best.get(variant.family, -math.inf), float(value))
        left = [(one["manager"], one["victims"]) for one in self.families]
        found = []
        while left:
            top = max(best[one] for one in left)
            alike = [one for one in left if best[one] > top - _ALIKE]
            found.append([", ".join(one) for one in alike])
            left = [one for one in left if one not in alike]
        return found

    @cached_property
    def separation_probability(self) -> float:
        """Probability that what is hot or moved lies apart."""
        return self._weight_of([one.separates for one in self.variants])

    def _weight_of(self, is_one: Sequence[bool]) -> float:
        """Return the weight of the variants that are one of a kind."""
        return float(self.weighed.weight[np.array(is_one)[self.weighed.variant]].sum())

    @property
    def noise(self) -> float:
        """Relative standard deviation of a window's WA that is seen."""
        return self.weighed.scale

    @property
    def misfit(self) -> float:
        """Error of the windows over what is expected, at least 1."""
        expected = USUAL_NOISE if self.windows.noise is None else self.windows.noise
        return max(1.0, self._seen / math.hypot(expected, self.weighed.table_error))

    @property
    def _seen(self) -> float:
        """Relative error of a window by all that it has."""
        return math.hypot(self.weighed.scale, self.weighed.table_error)

    @property
    def error(self) -> float:
        """Relative error of a prediction of WA beside that of the parameters."""
        # What looks like noise may be a drive that no candidate is: unless repeats tell it, only
        # usual noise is taken off.
        own = self.windows.noise or USUAL_NOISE
        if not self.windows.is_repeated:
            own = min(own, USUAL_NOISE)
        beyond = math.sqrt(max(self.weighed.scale**2 - own**2, 0.0))
        return math.hypot(_OTHER_FAMILY, _BEYOND_THE_CHAIN * beyond)

    @cached_property
    def candidates(self) -> tuple[Candidate, ...]:
        """Candidates that stand for all, the most probable first, on a drive of this size."""
        return condensed(self.weighed, self._op, self.variants, self.windows.chain.logical_pages)

    def profile(self) -> dict[str, Any]:
        """Return the tables of a device profile that every verb takes."""
        found = self.to_dict()
        kept = ("op", "op_low", "op_high", "families", "separation_probability", "misfit", "noise")
        posterior = {name: found[name] for name in kept}
        posterior |= {
            name: found[name]
            for name in ("erase_unit_pages", "erase_unit_pages_low", "erase_unit_pages_high")
        }
        chain = self.windows.chain
        return profile_tables(
            Candidates(chain.logical_pages, self.error, self.candidates),
            chain.page_bytes,
            str(self),
            posterior | {"classes": self.classes, "sequential_factor": found["sequential_factor"]},
        )

    @property
    def warnings(self) -> list[str]:
        """Sentences that a reader should know."""
        found = []
        if self.misfit > _STRANGE:
            found.append(
                f"no candidate explains this drive: windows are off by {self._seen:.1%}, "
                f"{self.misfit:.1f} times what is expected; intervals are widened by that"
            )
        low, high = self.erase_unit_pages[1:]
        if high / low > 4:
            found.append(
                f"the erase unit is hardly told: {low:.0f} to {high:.0f} pages; aligned chunks "
                "tell it (--chunks)"
            )
        return found

    @property
    def notes(self) -> list[str]:
        """Sentences on what was divided out, and on what no window can tell."""
        found = []
        if abs(self.windows.sequential_factor - 1) >= 0.005:
            found.append(
                f"the sequential fill has a WA of {self.windows.sequential_factor:.4f} (parity, "
                "metadata), by which all windows are divided; predictions are without it"
            )
        if self._weight_of([one.hears_hints for one in self.variants]) > 0.05:
            found.append(
                "windows look like those of a drive that its host tells which pages are alike, as "
                "workloads do and requests to a real drive do not"
            )
        if self._weight_of([one.separates_for_nothing for one in self.variants]) > 0.05:
            found.append(
                "FIFO and random victims make WA all but the same wherever pages lie: whether "
                "such a drive separates is a guess, for one stream"
            )
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the fit as JSON types, with the keys of `writeamp twin fit --json`."""
        op, op_low, op_high = self.op
        unit, unit_low, unit_high = self.erase_unit_pages
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
            "windows": self._records(),
            "candidates": [one.to_dict() for one in self.candidates],
            "warnings": self.warnings,
            "notes": self.notes,
        }

    def _records(self) -> list[dict[str, Any]]:
        low, high = self._bands()
        parts = list(self.windows.chain.parts(10**6, fine=False))
        told = [part for part in parts if not math.isnan(self.windows.wa[part.window])]
        return [
            {
                "window": part.window + 1,
                "phase": part.phase + 1,
                "workload": self.windows.chain.phases[part.phase].workload,
                "drive_writes": part.end_pages / 10**6,
                "wa": float(self.windows.wa[part.window]),
                "fitted_low": float(low[at]),
                "fitted_high": float(high[at]),
            }
            for at, part in enumerate(told)
        ]

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each window."""
        import polars as pl  # noqa: PLC0415 (slow)

        return pl.DataFrame(self._records())

    def _bands(self) -> tuple[Floats, Floats]:
        """Return the ends of what the candidates say of each window."""
        ends = [self._quantiles(column)[1:] for column in self.weighed.log_wa.T]
        low, high = np.exp(np.array(ends)).T
        return low, high

    def figure(self) -> LineChart:
        """Describe WA of each window, and what the candidates say of it."""
        from writeamp.plots.style import MUTED, SERIES_COLORS  # noqa: PLC0415

        rows = self._records()
        at = [float(row["window"]) for row in rows]
        low, high = self._bands()
        return LineChart(
            title="What each window said of the drive",
            subtitle=str(self),
            x_label="window of the chain",
            y_label="write amplification",
            lines=(
                Line(at, list(low), MUTED, dash="dash", label="90% of the candidates"),
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
        return (
            f"op {op:.4f} ({low:.4f} to {high:.4f}), {first['manager']}, {first['victims']} "
            f"({first['weight']:.0%}), erase unit about {self.erase_unit_pages[0]:.0f} pages"
        )

    def card(self) -> Card:
        """Return the main facts in words."""
        op, low, high = self.op
        rows = [
            ("op", f"{op:.4f}, with 90% {low:.4f} to {high:.4f}"),
            (
                "erase unit",
                "{:.0f} pages, with 90% {:.0f} to {:.0f}".format(*self.erase_unit_pages),
            ),
            ("hot and cold apart", f"{self.separation_probability:.1%}"),
            *(
                (f"{one['manager']}, {one['victims']}", f"{one['weight']:.1%}")
                for one in self.families[:5]
            ),
            ("cannot be told apart", "; or ".join(self.classes[0])),
            ("error of a window", f"{self.noise:.2%}; misfit {self.misfit:.2f}"),
            ("sequential factor", f"{self.windows.sequential_factor:.4f}"),
        ]
        return Card("Twin", rows, warnings=self.warnings, notes=self.notes)


def fit(
    windows: Windows,
    *,
    table: CandidateTable | None = None,
    runner: Runner | None = None,
    progress: Progress | None = None,
) -> Fit:
    """Return the hidden parameters of the drive whose windows these are.

    Args:
        windows: what `measure` or a file says.
        table: candidates of the same chain; by default those of the cache, simulated if need be.
        runner: who simulates them.
        progress: called with what is done of the table.

    Returns:
        `Fit`: `op` and `erase_unit_pages` (each the median and the ends of its 90% interval),
        `families` and their probabilities, `candidates`, `profile()`, `warnings`.

    Raises:
        WriteampError: no candidate can be such a drive.
    """
    windows.check()
    if table is None:
        table = table_of(windows.chain, runner=runner, progress=progress)
    weighed = weigh(table, windows.wa, windows.noise)
    return Fit(windows, refined(table, weighed, windows), table.variants)
