"""Sensitivity of a result: how much each axis affects it, with confidence intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from writeamp.errors import WriteampError
from writeamp.plots.figures.sweeps import IndexBar, indices_by_axis
from writeamp.plots.labels import axis_label
from writeamp.plots.spec import BarChart
from writeamp.results.card import Card
from writeamp.studies.dataset import KEY
from writeamp.studies.sweep.designs import GRID, SEARCH
from writeamp.studies.sweep.plan import SweepPlan
from writeamp.studies.sweep.summary import groups_of
from writeamp.studies.sweep.tidy import Tidy, word_of
from writeamp.studies.sweep.views.indices import METHODS, Index, of_full_grid
from writeamp.studies.sweep.views.roles import check_alike
from writeamp.studies.sweep.views.view import (
    View,
    column_title,
    heading,
    interval_in_words,
    number_in_words,
    subtitle_of,
)

_Floats: TypeAlias = npt.NDArray[np.float64]

_FULL_GRID = "Sobol indices of the grid, by analysis of variance"
_MEASURES = {
    "first_order": "first order: effect of the axis alone",
    "total": "total: effect with all interactions",
    "mu_star": "μ*: mean absolute effect",
}


@dataclass(frozen=True)
class Indices:
    """Indices of all axes, largest effect first, for one combination of the listed axes."""

    choice: dict[str, Any]
    indices: tuple[Index, ...]


@dataclass(frozen=True, eq=False)
class Sensitivity(View):
    """Sensitivity of a result to each axis.

    Attributes:
        tidy: the results.
        column: column of results.
        method: description of the method of analysis.
        parts: indices for each combination of values of the axes that the design did not draw.
    """

    tidy: Tidy
    column: str
    method: str
    parts: tuple[Indices, ...]

    @staticmethod
    def of(tidy: Tidy, plan: SweepPlan | None, *, y: str = "wa") -> Sensitivity:
        """Return the indices; `SweepResults.sensitivity` describes the arguments."""
        tidy.result_column(y, "y")
        if plan is not None and plan.design is None:
            raise WriteampError(
                f"a {SEARCH} chooses points near the best goal, so that they do not show which "
                "axis matters; use another design"
            )
        if plan is None or plan.design is None or plan.design.kind == GRID:
            names, values = _full_grid(tidy, y)
            parts = [Indices({}, _ranked(of_full_grid(names, values)))]
            return Sensitivity(tidy, y, _FULL_GRID, tuple(parts))
        if plan.design.kind not in METHODS:
            raise WriteampError(
                f"design {plan.design.kind} has no valid analysis of sensitivity; use one of "
                f"{', '.join((GRID, *METHODS))}"
            )
        return Sensitivity(tidy, y, METHODS[plan.design.kind].words, _drawn(tidy, plan, y))

    def to_dict(self) -> dict[str, Any]:
        """Return the method and, by combination of listed axes, the indices with intervals."""
        return {
            "y": self.column,
            "method": self.method,
            "sensitivity": [
                {
                    "choice": choice_indices.choice,
                    "indices": [index.to_dict() for index in choice_indices.indices],
                }
                for choice_indices in self.parts
            ],
        }

    def _records(self) -> list[dict[str, Any]]:
        return [
            choice_indices.choice | index.to_dict()
            for choice_indices in self.parts
            for index in choice_indices.indices
        ]

    def card(self) -> Card:
        """Return one row for each index."""
        names = list(self.parts[0].choice)
        rows = [
            [
                *(word_of(choice_indices.choice[name]) for name in names),
                index.axis,
                index.measure.replace("_", " "),
                number_in_words(index.value),
                interval_in_words(index.to_dict()["low"], index.to_dict()["high"]),
            ]
            for choice_indices in self.parts
            for index in choice_indices.indices
        ]
        headings = [
            heading(name, [choice_indices.choice[name] for choice_indices in self.parts])
            for name in names
        ]
        title = f"Sensitivity of {column_title(self.column)}: {self.method}"
        return Card(title, rows, [*headings, "axis", "index", ">value", ">95% CI"])

    def figure(self) -> BarChart:
        """Return a bar chart of the indices of each axis, with intervals."""
        bars = []
        for choice_indices in self.parts:
            choice_text = ", ".join(word_of(value) for value in choice_indices.choice.values())
            sigma = {
                index.axis: index.value
                for index in choice_indices.indices
                if index.measure == "sigma"
            }
            bars += [
                IndexBar(
                    f"{choice_text}: {index.axis}" if choice_text else index.axis,
                    _MEASURES[index.measure],
                    index.value,
                    index.low,
                    index.high,
                    f", σ {sigma[index.axis]:.3g}" if index.axis in sigma else "",
                )
                for index in choice_indices.indices
                if index.measure in _MEASURES
            ]
        is_effect = bars[0].measure == _MEASURES["mu_star"]
        axes = {index.axis for choice_indices in self.parts for index in choice_indices.indices}
        name = axis_label(self.column).partition(" (")[0]
        return indices_by_axis(
            bars,
            title=f"Sensitivity of {name}",
            subtitle=f"{self.method} · "
            + subtitle_of(self.tidy, groups_of(self.tidy, self.column), (*axes, *self._listed())),
            x_label=f"change of {name} over the whole range of an axis"
            if is_effect
            else f"share of the variance of {name}",
        )

    def _listed(self) -> Sequence[str]:
        return list(self.parts[0].choice)


def _full_grid(tidy: Tidy, y: str) -> tuple[list[str], _Floats]:
    """Return the axes of a full grid, and the results by replica and value of each axis."""
    names = list(tidy.varying)
    if not names:
        raise WriteampError("nothing varies in these results, so that no axis has an effect")
    values = [tidy.values(name) for name in names]
    count = math.prod(map(len, values))
    groups = tidy.frame.group_by(names).agg("seed", y)
    if groups.height != count or any(tidy.frame[name].null_count() for name in names):
        raise WriteampError(
            f"{groups.height} of the {count} combinations of {', '.join(names)} have results, but "
            "a sensitivity needs all, or the design that drew them; give the sweep's file (--of "
            "FILE.toml), or fix axes by where NAME=VALUE"
        )
    check_alike(tidy, names)
    cells = {
        tuple(choice): dict(zip(seeds, results, strict=True))
        for *choice, seeds, results in groups.rows()
    }
    seeds = sorted(set.intersection(*(set(cell) for cell in cells.values())))
    if not seeds:
        raise WriteampError(
            "the combinations of the axes have no common seed, so that no replica is complete; run "
            "the sweeps with the same seed"
        )
    flat = [[cells[choice][seed] for choice in product(*values)] for seed in seeds]
    cube = np.array(flat, np.float64).reshape(len(seeds), *map(len, values))
    _check(cube, y)
    return names, cube


def _drawn(tidy: Tidy, plan: SweepPlan, y: str) -> tuple[Indices, ...]:
    """Return the indices of a design that draws samples, for each combination of listed axes."""
    assert plan.design is not None
    assert plan.design.samples is not None
    method = METHODS[plan.design.kind]
    if plan.design.samples < method.least_samples:
        raise WriteampError(
            f"the design has {plan.design.samples} samples, but {method.words} need at least "
            f"{method.least_samples}; increase samples"
        )
    shares = plan.design.shares(len(plan.drawn))
    result_of = dict(zip(tidy.frame.select(*KEY).rows(), tidy.frame[y], strict=True))
    runs = len(shares) * plan.replicas
    parts = []
    for start in range(0, len(plan.requested_points), runs):
        points = plan.requested_points[start : start + runs]
        if not any(point.key in result_of for point in points):
            continue  # where() has left out this combination
        values = np.array([result_of.get(point.key) for point in points], np.float64)
        _check(values, y)
        mean = values.reshape(len(shares), plan.replicas).mean(axis=1)
        choice = {name: value for name, value in points[0].choice.items() if name not in plan.drawn}
        parts.append(Indices(choice, _ranked(method.indices(plan.drawn, shares, mean))))
    if not parts:
        raise WriteampError("no point of the sweep has a result; run it first")
    return tuple(parts)


def _check(values: _Floats, y: str) -> None:
    missing = int(np.isnan(values).sum())
    if missing:
        raise WriteampError(
            f"{missing} of {values.size} runs have no {y}, but a sensitivity needs all; run the "
            "sweep to its end, or leave out failing runs by where NAME=VALUE"
        )
    if np.ptp(values) == 0:
        raise WriteampError(f"{y} is {values.flat[0]:g} everywhere, so that no axis affects it")


def _ranked(indices: Sequence[Index]) -> tuple[Index, ...]:
    """Return the indices grouped by axis; the axis with the largest index comes first."""
    most = {index.axis: -math.inf for index in indices}
    for index in indices:
        most[index.axis] = max(most[index.axis], index.value)
    return tuple(sorted(indices, key=lambda index: -most[index.axis]))
