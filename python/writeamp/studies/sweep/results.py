"""Results of sweeps in a folder, and the ways to look at them."""

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
    """Results of sweeps, which draw themselves; nothing is averaged over but replicas.

    Attributes:
        tidy: a row for each.
        plan: the sweep that they are of; None for all that share a folder.
    """

    tidy: Tidy
    plan: SweepPlan | None = None

    @staticmethod
    def of(folder: str | os.PathLike[str], plan: SweepPlan | None = None) -> SweepResults:
        """Return all results in a folder, or those of one sweep in the order of its points.

        Raises:
            WriteampError: the folder holds none, or cannot be read.
        """
        rows = SweepDataset.open(folder).rows()
        if plan is None:
            return SweepResults(_tidy_of(rows, folder))
        asked = pl.DataFrame(
            {
                "_at": range(len(plan.points)),
                "hash": [point.hash for point in plan.points],
                "version": [point.version for point in plan.points],
                "replica": [point.replica for point in plan.points],
            },
            schema={"_at": pl.Int64, "hash": pl.String, "version": pl.String, "replica": pl.Int64},
        )
        # What a replica of one sweep is may be a first run of another.
        own_rows = asked.join(rows.drop("replica"), on=list(KEY), how="inner").sort("_at")
        choices = [plan.points[at].choice for at in own_rows["_at"]]
        return SweepResults(_tidy_of(own_rows.drop("_at"), folder, choices), plan)

    @staticmethod
    def expected(plan: SweepPlan) -> SweepResults:
        """Return the results that a sweep will have, of which nothing is found yet.

        Of a search, which chooses its points as it runs, there are none.
        """
        columns, none = PointCodec().columns, PointOutcome(None, None)
        rows = pl.DataFrame([columns(point, none) for point in plan.points], schema=SCHEMA)
        return SweepResults(Tidy.of(rows, [point.choice for point in plan.points]), plan)

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each result, as `Sweep.to_frame` describes it."""
        return self.tidy.frame.drop(ALIKE)

    def card(self) -> Card:
        """Return a row for each choice, with WA if that was found."""
        title, parameters = f"{self.tidy.frame.height} points", self.tidy.parameters
        has_wa = "wa" in self.tidy.frame.columns
        return card_of_groups(title, parameters, self.groups() if has_wa else ())

    def figure(self) -> FigureSpec:
        """Describe what `curves` shows without an argument.

        Raises:
            WriteampError: as of `curves`.
        """
        return self.curves().figure()

    def where(self, conditions: Mapping[str, Any] | None = None, /, **more: Any) -> SweepResults:
        """Return the results in which settings have some values.

        Args:
            conditions: values by the names of settings, such as `{"workload.s": 0.9}`.
            more: further ones.

        Raises:
            WriteampError: there is no such setting, or no result with the value.
        """
        return replace(self, tidy=self.tidy.where({**(conditions or {}), **more}))

    def groups(self, column: str = "wa") -> tuple[Group, ...]:
        """Return the mean of a column over the replicas of each choice, with its interval.

        Raises:
            WriteampError: there is no such column of numbers.
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
        """Return lines with 95% bands: what was found over one axis, for each value of another.

        Args:
            x: the axis along which lines run; by default the first that has numbers. One of words
                has points with bars.
            y: what was found: any column of numbers.
            hue: the axis of which each value has a line; by default the first of the others.
            facet: the axes of which each choice has a panel; by default those left, up to two.
            log_x: whether the x axis is logarithmic; by default if its values rise at equal ratios.
            log_y: whether the y axis is.

        Returns:
            `Curves`: `series`, `left_out` (choices without an x), `to_frame()`, `plot()`.

        Raises:
            WriteampError: there is no such axis or column, or an axis is left over: a mean over it
                would hide it.
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
        """Return heat maps: what was found in each cell of two axes.

        Args:
            x: the axis of the columns; by default the first that has numbers.
            y: the axis of the rows; by default the first of the others.
            color: what was found: any column of numbers.
            facet: as of `curves`.

        Returns:
            `HeatMaps`: `grids`, `x_values`, `y_values`, `left_out` (choices without an x or y),
            `to_frame()`, `plot()`.

        Raises:
            WriteampError: as of `curves`, and if an axis has too many values for cells.
        """
        return HeatMaps.of(self.tidy, x=x, y=y, color=color, facet=facet)

    def pareto(self, *objectives: str, hue: str | None = None) -> Pareto:
        """Return the choices that are best in some trade-off of two or three objectives.

        Args:
            objectives: columns, such as "wa", "op", "endurance" or "latency_us.read.p99", each
                with the direction that it is known to be better in; "max:" or "min:" before a name
                says which.
            hue: the axis of which each value has a colour; by default the first one of words.

        Returns:
            `Pareto`: `choices` (the front first), `left_out` (choices that lack an objective),
            `to_frame()`, `plot()`.

        Raises:
            WriteampError: there is no such column, or its better direction is not known.
        """
        return Pareto.of(self.tidy, objectives, hue=hue)

    def sensitivity(self, y: str = "wa") -> Sensitivity:
        """Return how much each axis matters for what was found.

        A full grid of any axes has first-order and total Sobol indices by analysis of variance. The
        others are analysed by SALib, an extra: design "saltelli" for both indices, "morris" for
        elementary effects, "random" and "latin-hypercube" for first-order indices.

        Args:
            y: what was found: any column of numbers.

        Returns:
            `Sensitivity`: `parts` (indices by axis), `method`, `to_frame()`, `plot()`.

        Raises:
            WriteampError: the design has no such analysis, a point has no result, or SALib is
                missing.
        """
        return Sensitivity.of(self.tidy, self.plan, y=y)

    def __repr__(self) -> str:
        """Return the count and the axes in brackets."""
        axes = ", ".join(self.tidy.parameters)
        return f"<SweepResults: {self.tidy.frame.height} results over {axes or 'no axis'}>"


def sweep_results(folder: str | os.PathLike[str], *, of: PlanLike | None = None) -> SweepResults:
    """Return the results in a folder, to look at.

    Args:
        folder: the `keep` of sweeps.
        of: only those of this sweep, a .toml file or a mapping as `wa.sweep` takes it.

    Returns:
        `SweepResults`: `to_frame()`, `curves()`, `heat_map()`, `pareto()`, `sensitivity()`,
        `where()`.

    Raises:
        WriteampError: the folder holds none, or the sweep cannot be, is a search, or is a file that
            names a policy in Python, of which none is imported to look at results.

    >>> import tempfile
    >>> import writeamp as wa
    >>> plan = {
    ...     "verb": "predict",
    ...     "sweep": {"axes": {"op": [0.1, 0.2], "model": ["expected-value", "markov"]}},
    ... }
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = wa.sweep(plan, keep=folder, runner=wa.runners.Here())
    ...     found = wa.sweep_results(folder)
    >>> found
    <SweepResults: 4 results over op, model>
    >>> [series["hue"] for series in found.curves("op", hue="model").to_dict()["series"]]
    ['expected-value', 'markov']
    """
    if of is None:
        return SweepResults.of(folder)
    plan = plan_of(of) if isinstance(of, Mapping | SweepPlan) else _looked_at(of)
    if plan.search is not None:
        where = of if isinstance(of, str | Path) else "the plan"
        raise WriteampError(
            f"{where} is a {SEARCH}, whose points follow from its results; show the whole folder"
        )
    return SweepResults.of(folder, plan)


def _tidy_of(
    rows: pl.DataFrame, folder: str | os.PathLike[str], choices: Sequence[Choice] | None = None
) -> Tidy:
    """Return rows as a tidy table; refuse rows that are none of a sweep."""
    try:
        return Tidy.of(rows, choices)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise WriteampError(
            f"{os.fspath(folder)} has rows that no sweep has written ({type(error).__name__}); "
            "remove their part, or give another folder"
        ) from None


def _looked_at(file: str | os.PathLike[str]) -> SweepPlan:
    """Return the plan of a file that is not run."""
    why_not = (
        f"is a policy in Python, and only a sweep that runs imports it; show all results (without "
        f"--of), or run {os.fspath(file)}, which keeps the results that there are"
    )
    with custom.without_imports(why_not):
        return plan_of(file)
