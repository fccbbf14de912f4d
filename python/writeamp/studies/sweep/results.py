"""Results of sweeps in a folder, and their views."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from writeamp import custom
from writeamp.errors import WriteampError
from writeamp.plots.spec import FigureSpec
from writeamp.results.card import Card
from writeamp.results.drawn import Drawn
from writeamp.studies.dataset import KEY
from writeamp.studies.sweep.designs import SEARCH, Choice
from writeamp.studies.sweep.plan import PlanLike, SweepPlan, plan_of
from writeamp.studies.sweep.points import SCHEMA, PointCodec, PointOutcome, SweepDataset
from writeamp.studies.sweep.summary import Group, groups_of
from writeamp.studies.sweep.tidy import ALIKE, Tidy
from writeamp.studies.sweep.views.curves import Curves
from writeamp.studies.sweep.views.heat_map import HeatMaps
from writeamp.studies.sweep.views.pareto import Pareto
from writeamp.studies.sweep.views.sensitivity import Sensitivity
from writeamp.studies.sweep.views.view import card_of_groups


@dataclass(frozen=True, repr=False, eq=False)
class SweepResults(Drawn):
    """Results of sweeps with their views; only replicas are averaged.

    Attributes:
        tidy: table with a row for each result.
        plan: plan of the sweep, or None for all results in a folder.
    """

    tidy: Tidy
    plan: SweepPlan | None = None

    @staticmethod
    def of(folder: str | os.PathLike[str], plan: SweepPlan | None = None) -> SweepResults:
        """Return all results in a folder, or those of one sweep in the order of its points.

        Raises:
            WriteampError: the folder holds no results, or cannot be read.
        """
        rows = SweepDataset.open(folder).rows()
        if plan is None:
            return SweepResults(_tidy_of(rows, folder))
        requested = pl.DataFrame(
            {
                "_at": range(len(plan.points)),
                "hash": [point.hash for point in plan.points],
                "version": [point.version for point in plan.points],
                "replica": [point.replica for point in plan.points],
            },
            schema={"_at": pl.Int64, "hash": pl.String, "version": pl.String, "replica": pl.Int64},
        )
        # A replica of one sweep may be the first run of another.
        own_rows = requested.join(rows.drop("replica"), on=list(KEY), how="inner").sort("_at")
        choices = [plan.points[index].choice for index in own_rows["_at"]]
        return SweepResults(_tidy_of(own_rows.drop("_at"), folder, choices), plan)

    @staticmethod
    def expected(plan: SweepPlan) -> SweepResults:
        """Return the rows that a sweep will have, without results.

        A search has no rows, because it chooses its points while it runs.
        """
        columns, none = PointCodec().columns, PointOutcome(None, None)
        rows = pl.DataFrame([columns(point, none) for point in plan.points], schema=SCHEMA)
        return SweepResults(Tidy.of(rows, [point.choice for point in plan.points]), plan)

    def to_frame(self) -> pl.DataFrame:
        """Return one row for each result, as described in `Sweep.to_frame`."""
        return self.tidy.frame.drop(ALIKE)

    def card(self) -> Card:
        """Return one row for each choice, with its WA if there is one."""
        title, parameters = f"{self.tidy.frame.height} points", self.tidy.parameters
        has_wa = "wa" in self.tidy.frame.columns
        return card_of_groups(title, parameters, self.groups() if has_wa else ())

    def figure(self) -> FigureSpec:
        """Describe `curves` without arguments.

        Raises:
            WriteampError: as for `curves`.
        """
        return self.curves().figure()

    def where(self, conditions: Mapping[str, Any] | None = None, /, **more: Any) -> SweepResults:
        """Return the results in which settings have the given values.

        Args:
            conditions: values by names of settings, such as `{"workload.s": 0.9}`.
            more: further conditions.

        Raises:
            WriteampError: no setting has the name, or no result the value.
        """
        return replace(self, tidy=self.tidy.where({**(conditions or {}), **more}))

    def groups(self, column: str = "wa") -> tuple[Group, ...]:
        """Return the mean of a column over the replicas of each choice, with its interval.

        Raises:
            WriteampError: no numeric column has the name.
        """
        return groups_of(self.tidy, column)

    def curves(
        self,
        x: str | None = None,
        y: str = "wa",
        *,
        hue: str | None = None,
        facet: Sequence[str] | None = None,
        log_x: bool | None = None,
        log_y: bool = False,
    ) -> Curves:
        """Return lines with 95% bands: a result over one axis, by the values of another.

        Args:
            x: axis along which lines run; by default the first numeric one. An axis of texts has
                points with bars.
            y: numeric column of results.
            hue: axis with a line for each value; by default the first remaining axis.
            facet: axes with a panel for each combination of values; by default the remaining axes,
                up to two.
            log_x: whether the x axis is logarithmic; by default if its values rise at equal ratios.
            log_y: whether the y axis is logarithmic.

        Returns:
            `Curves`: `series`, `left_out` (choices without an x), `to_frame()`, `plot()`.

        Raises:
            WriteampError: no axis or column has the name, or an axis without a role is left, which
                a mean would hide.
        """
        return Curves.of(self.tidy, x=x, y=y, hue=hue, facet=facet, x_log=log_x, y_log=log_y)

    def heat_map(
        self,
        x: str | None = None,
        y: str | None = None,
        *,
        color: str = "wa",
        facet: Sequence[str] | None = None,
    ) -> HeatMaps:
        """Return heat maps: a result in each cell of two axes.

        Args:
            x: axis of the columns; by default the first numeric one.
            y: axis of the rows; by default the first remaining axis.
            color: numeric column of results.
            facet: as for `curves`.

        Returns:
            `HeatMaps`: `grids`, `x_values`, `y_values`, `left_out` (choices without an x or y),
            `to_frame()`, `plot()`.

        Raises:
            WriteampError: as for `curves`, or an axis has too many values for cells.
        """
        return HeatMaps.of(self.tidy, x=x, y=y, color=color, facet=facet)

    def pareto(self, *objectives: str, hue: str | None = None) -> Pareto:
        """Return the best choices for two or three objectives: the Pareto front.

        Args:
            objectives: columns, such as "wa", "op", "endurance" or "latency_us.read.p99". Common
                columns have a known better direction; "max:" or "min:" before a name states it.
            hue: axis with a colour for each value; by default the first axis of texts.

        Returns:
            `Pareto`: `choices` (the front first), `left_out` (choices that lack an objective),
            `to_frame()`, `plot()`.

        Raises:
            WriteampError: no column has the name, or its better direction is not known.
        """
        return Pareto.of(self.tidy, objectives, hue=hue)

    def sensitivity(self, y: str = "wa") -> Sensitivity:
        """Return how much each axis affects a result.

        A full grid of any axes has first-order and total Sobol indices by analysis of variance.
        Other
        designs are analysed by SALib, an extra: "saltelli" for both indices, "morris" for
        elementary
        effects, "random" and "latin-hypercube" for first-order indices.

        Args:
            y: numeric column of results.

        Returns:
            `Sensitivity`: `parts` (indices by axis), `method`, `to_frame()`, `plot()`.

        Raises:
            WriteampError: the design has no such analysis, a point has no result, or SALib is
                missing.
        """
        return Sensitivity.of(self.tidy, self.plan, y=y)

    def __repr__(self) -> str:
        """Return the number of results and the axes in angle brackets."""
        axes = ", ".join(self.tidy.parameters)
        return f"<SweepResults: {self.tidy.frame.height} results over {axes or 'no axis'}>"


def sweep_results(folder: str | os.PathLike[str], *, of: PlanLike | None = None) -> SweepResults:
    """Return the results in a folder, with their views.

    Args:
        folder: folder of sweeps' results, their `keep`.
        of: a sweep, to select its results: a .toml file or a mapping as for `wa.sweep`.

    Returns:
        `SweepResults`: `to_frame()`, `curves()`, `heat_map()`, `pareto()`, `sensitivity()`,
        `where()`.

    Raises:
        WriteampError: the folder holds no results; or the sweep is invalid, is a search, or is a
            file that names a policy in Python, which is imported only to run a sweep.

    >>> import tempfile
    >>> import writeamp as wa
    >>> plan = {
    ...     "verb": "predict",
    ...     "sweep": {"axes": {"op": [0.1, 0.2], "model": ["expected-value", "markov"]}},
    ... }
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = wa.sweep(plan, keep=folder, runner=wa.runners.Here())
    ...     results = wa.sweep_results(folder)
    >>> results
    <SweepResults: 4 results over op, model>
    >>> [series["hue"] for series in results.curves("op", hue="model").to_dict()["series"]]
    ['expected-value', 'markov']
    """
    if of is None:
        return SweepResults.of(folder)
    plan = plan_of(of) if isinstance(of, Mapping | SweepPlan) else _looked_at(of)
    if plan.search is not None:
        where = of if isinstance(of, str | Path) else "the plan"
        raise WriteampError(
            f"{where} is a {SEARCH}, whose points depend on its results; omit it to show the folder"
        )
    return SweepResults.of(folder, plan)


def _tidy_of(
    rows: pl.DataFrame, folder: str | os.PathLike[str], choices: Sequence[Choice] | None = None
) -> Tidy:
    """Return rows as a tidy table; reject rows that are not from a sweep."""
    try:
        return Tidy.of(rows, choices)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise WriteampError(
            f"{os.fspath(folder)} has rows that no sweep wrote ({type(error).__name__}); remove "
            "the part file with them, or give another folder"
        ) from None


def _looked_at(file: str | os.PathLike[str]) -> SweepPlan:
    """Return the plan of a file that is not run."""
    why_not = (
        f"is a policy in Python, which is imported only to run a sweep; show all results (without "
        f"--of), or run {os.fspath(file)}, which keeps the stored results"
    )
    with custom.without_imports(why_not):
        return plan_of(file)
