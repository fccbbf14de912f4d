"""Stored results of sweeps, and their views: curves, heat maps, trade-offs, sensitivity."""

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
    """Results of sweeps with methods that draw and select them; only replicas are averaged.

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
        # A run may have another replica number in another sweep, so the stored number is not used.
        own_rows = requested.join(rows.drop("replica"), on=list(KEY), how="inner").sort("_at")
        choices = [plan.points[index].choice for index in own_rows["_at"]]
        return SweepResults(_tidy_of(own_rows.drop("_at"), folder, choices), plan)

    @staticmethod
    def expected(plan: SweepPlan) -> SweepResults:
        """Return a table of the rows that a sweep will have, without results.

        For a search the table is empty, because a search chooses its points while it runs.
        """
        columns, none = PointCodec().columns, PointOutcome(None, None)
        rows = pl.DataFrame([columns(point, none) for point in plan.points], schema=SCHEMA)
        return SweepResults(Tidy.of(rows, [point.choice for point in plan.points]), plan)

    def to_frame(self) -> pl.DataFrame:
        """Return one row for each result, as described in `Sweep.to_frame`."""
        return self.tidy.frame.drop(ALIKE)

    def card(self) -> Card:
        """Return one row for each combination of settings, with its WA if there is one."""
        title, parameters = f"{self.tidy.frame.height} points", self.tidy.parameters
        has_wa = "wa" in self.tidy.frame.columns
        return card_of_groups(title, parameters, self.groups() if has_wa else ())

    def figure(self) -> FigureSpec:
        """Return the figure of `curves` without arguments.

        Raises:
            WriteampError: as for `curves`.
        """
        return self.curves().figure()

    def where(self, conditions: Mapping[str, Any] | None = None, /, **more: Any) -> SweepResults:
        """Return the results for which settings have the given values.

        Args:
            conditions: values by name of the setting, such as `{"workload.s": 0.9}`.
            more: further conditions, as keyword arguments.

        Raises:
            WriteampError: no setting has the name, or no result has the value.
        """
        return replace(self, tidy=self.tidy.where({**(conditions or {}), **more}))

    def groups(self, column: str = "wa") -> tuple[Group, ...]:
        """Return the mean of a column over the replicas of each combination, with its interval.

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
        """Return lines with 95% bands: a result by one axis, with a line per value of another.

        Args:
            x: axis along which lines run; by default the first numeric one. For an axis of texts,
                points with error bars are drawn instead of lines.
            y: numeric column of results.
            hue: axis with a line for each value; by default the first remaining axis.
            facet: axes with a panel for each combination of values; by default the remaining axes,
                up to two.
            log_x: whether the x axis is logarithmic; by default, if the values of x have equal
                ratios.
            log_y: whether the y axis is logarithmic.

        Returns:
            `Curves`: `series`, `left_out` (number of points without an x), `to_frame()`, `plot()`.

        Raises:
            WriteampError: no axis or column has the name, or an axis is neither x, hue nor facet. A
                mean over that axis would hide its effect.
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
        """Return heat maps: the mean of a result in a cell for each pair of values of two axes.

        Args:
            x: axis of the columns; by default the first numeric one.
            y: axis of the rows; by default the first remaining axis.
            color: numeric column of results.
            facet: as for `curves`.

        Returns:
            `HeatMaps`: `grids`, `x_values`, `y_values`, `left_out` (number of points without an x
                or y), `to_frame()`, `plot()`.

        Raises:
            WriteampError: as for `curves`, or an axis has too many values for cells.
        """
        return HeatMaps.of(self.tidy, x=x, y=y, color=color, facet=facet)

    def pareto(self, *objectives: str, hue: str | None = None) -> Pareto:
        """Return the best choices for two or three objectives: the Pareto front.

        Args:
            objectives: columns, such as "wa", "op", "endurance" or "latency_us.read.p99". For
                common columns it is known whether larger or smaller is better. For others, write
                "max:" or "min:" before the name.
            hue: axis with a colour for each value; by default the first axis of texts.

        Returns:
            `Pareto`: `choices` (the front first), `left_out` (number of choices that lack an
                objective), `to_frame()`, `plot()`.

        Raises:
            WriteampError: no column has the name, or it is not known whether larger is better.
        """
        return Pareto.of(self.tidy, objectives, hue=hue)

    def sensitivity(self, y: str = "wa") -> Sensitivity:
        """Return how much each axis affects a result.

        For a full grid, analysis of variance gives first-order and total Sobol indices. Other
        designs are analysed by SALib, an optional dependency: "saltelli" gives both indices,
        "morris" elementary effects, and "random" and "latin-hypercube" first-order indices.

        Args:
            y: numeric column of results.

        Returns:
            `Sensitivity`: `parts` (indices by axis), `method`, `to_frame()`, `plot()`.

        Raises:
            WriteampError: the design has no sensitivity analysis, a point has no result, or SALib
                is missing.
        """
        return Sensitivity.of(self.tidy, self.plan, y=y)

    def __repr__(self) -> str:
        """Return the number of results and the axes in angle brackets."""
        axes = ", ".join(self.tidy.parameters)
        return f"<SweepResults: {self.tidy.frame.height} results over {axes or 'no axis'}>"


def sweep_results(folder: str | os.PathLike[str], *, of: PlanLike | None = None) -> SweepResults:
    """Return the stored results in a folder, with methods that draw and select them.

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
            f"{where} is a {SEARCH}, whose points depend on its results; omit it to show all "
            "results in the folder"
        )
    return SweepResults.of(folder, plan)


def _tidy_of(
    rows: pl.DataFrame, folder: str | os.PathLike[str], choices: Sequence[Choice] | None = None
) -> Tidy:
    """Return rows as a tidy table (one row per result); reject rows that are not from a sweep."""
    try:
        return Tidy.of(rows, choices)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise WriteampError(
            f"{os.fspath(folder)} has rows that no sweep wrote ({type(error).__name__}); remove "
            "the part file with them, or give another folder"
        ) from None


def _looked_at(file: str | os.PathLike[str]) -> SweepPlan:
    """Return the plan of a file, without importing policies, because no run follows."""
    why_not = (
        f"is a policy in Python, which is imported only to run a sweep; show all results (without "
        f"--of), or run {os.fspath(file)}, which keeps the stored results"
    )
    with custom.without_imports(why_not):
        return plan_of(file)
