"""Sensitivity: how much each axis matters for a column, and how sure that is."""

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
    "first_order": "first order: by itself",
    "total": "total: with all interactions",
    "mu_star": "μ*: mean absolute effect",
}


@dataclass(frozen=True)
class Indices:
    """The indices of all axes, those that matter most first, at one choice of the listed axes."""

    choice: dict[str, Any]
    indices: tuple[Index, ...]


@dataclass(frozen=True, eq=False)
class Sensitivity(View):
    """Sensitivity of a column to each axis.

    Attributes:
        tidy: the results.
        column: what was found.
        method: how the design is analysed, in words.
        parts: one for each choice of the axes that the design did not draw.
    """

    tidy: Tidy
    column: str
    method: str
    parts: tuple[Indices, ...]

    @staticmethod
    def of(tidy: Tidy, plan: SweepPlan | None, *, y: str = "wa") -> Sensitivity:
        """Return the indices; `SweepResults.sensitivity` says what each argument is."""
        tidy.found(y, "y")
        if plan is not None and plan.design is None:
            raise WriteampError(
                f"a {SEARCH} goes where its goal is best, so that its points say nothing of which "
                "axis matters; take another design"
            )
        if plan is None or plan.design is None or plan.design.kind == GRID:
            names, values = _full_grid(tidy, y)
            parts = [Indices({}, _ranked(of_full_grid(names, values)))]
            return Sensitivity(tidy, y, _FULL_GRID, tuple(parts))
        if plan.design.kind not in METHODS:
            raise WriteampError(
                f"design {plan.design.kind} has no sound analysis of sensitivity here; take one of "
                f"{', '.join((GRID, *METHODS))}"
            )
        return Sensitivity(tidy, y, METHODS[plan.design.kind].words, _drawn(tidy, plan, y))

    def to_dict(self) -> dict[str, Any]:
        """Return the method and, for each choice of listed axes, the indices with intervals."""
        return {
            "y": self.column,
            "method": self.method,
            "sensitivity": [
                {"choice": part.choice, "indices": [one.to_dict() for one in part.indices]}
                for part in self.parts
            ],
        }

    def _records(self) -> list[dict[str, Any]]:
        return [part.choice | one.to_dict() for part in self.parts for one in part.indices]

    def card(self) -> Card:
        """Return a row for each index."""
        names = list(self.parts[0].choice)
        rows = [
            [
                *(word_of(part.choice[name]) for name in names),
                one.axis,
                one.measure.replace("_", " "),
                number_in_words(one.value),
                interval_in_words(one.to_dict()["low"], one.to_dict()["high"]),
            ]
            for part in self.parts
            for one in part.indices
        ]
        headings = [heading(name, [part.choice[name] for part in self.parts]) for name in names]
        title = f"What decides {column_title(self.column)}: {self.method}"
        return Card(title, rows, [*headings, "axis", "index", ">value", ">95% CI"])

    def figure(self) -> BarChart:
        """Describe the indices as bars with intervals."""
        bars = []
        for part in self.parts:
            at = ", ".join(word_of(value) for value in part.choice.values())
            sigma = {one.axis: one.value for one in part.indices if one.measure == "sigma"}
            bars += [
                IndexBar(
                    f"{at}: {one.axis}" if at else one.axis,
                    _MEASURES[one.measure],
                    one.value,
                    one.low,
                    one.high,
                    f", σ {sigma[one.axis]:.3g}" if one.axis in sigma else "",
                )
                for one in part.indices
                if one.measure in _MEASURES
            ]
        is_effect = bars[0].measure == _MEASURES["mu_star"]
        axes = {one.axis for part in self.parts for one in part.indices}
        name = axis_label(self.column).partition(" (")[0]
        return indices_by_axis(
            bars,
            title=f"What decides {name}",
            subtitle=f"{self.method} · "
            + subtitle_of(self.tidy, groups_of(self.tidy, self.column), (*axes, *self._listed())),
            x_label=f"change of {name} over the whole range of an axis"
            if is_effect
            else f"share of the variance of {name}",
        )

    def _listed(self) -> Sequence[str]:
        return list(self.parts[0].choice)


def _full_grid(tidy: Tidy, y: str) -> tuple[list[str], _Floats]:
    """Return the axes, and what was found, of shape (replicas, values of the first axis, …)."""
    names = list(tidy.varying)
    if not names:
        raise WriteampError("nothing varies in these results, so that no axis can matter")
    values = [tidy.values(name) for name in names]
    count = math.prod(map(len, values))
    groups = tidy.frame.group_by(names).agg("seed", y)
    if groups.height != count or any(tidy.frame[name].null_count() for name in names):
        raise WriteampError(
            f"{groups.height} of the {count} combinations of {', '.join(names)} have results, and "
            "without the design that drew them a sensitivity needs all: give the sweep's own file "
            "(--of FILE.toml), or fix axes with where NAME=VALUE"
        )
    check_alike(tidy, names)
    cells = {
        tuple(choice): dict(zip(seeds, found, strict=True))
        for *choice, seeds, found in groups.rows()
    }
    seeds = sorted(set.intersection(*(set(cell) for cell in cells.values())))
    if not seeds:
        raise WriteampError(
            "the combinations of the axes have no seed in common, so that no replica has them all; "
            "run the sweeps with the same seed"
        )
    flat = [[cells[choice][seed] for choice in product(*values)] for seed in seeds]
    cube = np.array(flat, np.float64).reshape(len(seeds), *map(len, values))
    _check(cube, y)
    return names, cube


def _drawn(tidy: Tidy, plan: SweepPlan, y: str) -> tuple[Indices, ...]:
    """Return the indices of a design that draws samples, for each choice of the listed axes."""
    assert plan.design is not None
    assert plan.design.samples is not None
    method = METHODS[plan.design.kind]
    if plan.design.samples < method.least_samples:
        raise WriteampError(
            f"the design has {plan.design.samples} samples; {method.words} need at least "
            f"{method.least_samples}"
        )
    shares = plan.design.shares(len(plan.drawn))
    found = dict(zip(tidy.frame.select(*KEY).rows(), tidy.frame[y], strict=True))
    runs = len(shares) * plan.replicas
    parts = []
    for start in range(0, len(plan.asked), runs):
        points = plan.asked[start : start + runs]
        if not any(point.key in found for point in points):
            continue  # where() left it out
        values = np.array([found.get(point.key) for point in points], np.float64)
        _check(values, y)
        mean = values.reshape(len(shares), plan.replicas).mean(axis=1)
        choice = {name: one for name, one in points[0].choice.items() if name not in plan.drawn}
        parts.append(Indices(choice, _ranked(method.indices(plan.drawn, shares, mean))))
    if not parts:
        raise WriteampError("no point of the sweep has a result; run it first")
    return tuple(parts)


def _check(values: _Floats, y: str) -> None:
    missing = int(np.isnan(values).sum())
    if missing:
        raise WriteampError(
            f"{missing} of {values.size} runs have no {y}, and a sensitivity needs all: run the "
            "sweep to its end, or leave out by where NAME=VALUE what fails"
        )
    if np.ptp(values) == 0:
        raise WriteampError(f"{y} is {values.flat[0]:g} everywhere, so that no axis matters for it")


def _ranked(indices: Sequence[Index]) -> tuple[Index, ...]:
    """Return the indices of each axis together, the axis with the greatest first."""
    most = {one.axis: -math.inf for one in indices}
    for one in indices:
        most[one.axis] = max(most[one.axis], one.value)
    return tuple(sorted(indices, key=lambda one: -most[one.axis]))
