"""Line plots: a result by the values of one axis, a line for each value of another axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from writeamp.errors import WriteampError
from writeamp.plots.figures.sweeps import SweepCurve, curves_over_axis
from writeamp.plots.labels import axis_label, title_word, upright_label
from writeamp.plots.spec import PanelChart
from writeamp.results.card import Card
from writeamp.studies.sweep.summary import Group, groups_of
from writeamp.studies.sweep.tidy import Tidy, word_of
from writeamp.studies.sweep.views.roles import Roles, is_log, panels_of, roles_of
from writeamp.studies.sweep.views.view import (
    View,
    beside,
    card_of_groups,
    subtitle_of,
    without_axis,
)

_MOST_TICKS = 12


@dataclass(frozen=True)
class Series:
    """Points of one line, by ascending x, and the values that identify the line."""

    hue: Any
    facet: dict[str, Any]
    points: tuple[Group, ...]


@dataclass(frozen=True, eq=False)
class Curves(View):
    """Lines for each hue and facet; each point is the mean over replicas of one combination.

    `left_out` is the number of points that have no x.
    """

    tidy: Tidy
    y: str
    roles: Roles
    series: tuple[Series, ...]
    x_log: bool
    y_log: bool
    left_out: int

    @staticmethod
    def of(
        tidy: Tidy,
        *,
        x: str | None = None,
        y: str = "wa",
        hue: str | None = None,
        facet: Sequence[str] | None = None,
        x_log: bool | None = None,
        y_log: bool = False,
    ) -> Curves:
        """Return the requested lines; `SweepResults.curves` describes the arguments."""
        tidy.result_column(y, "y")
        roles = roles_of(tidy, x, hue, facet, role="hue")
        groups = groups_of(tidy, y, roles.names)
        hues = [None] if roles.other is None else _all_values(tidy, roles.other)
        _check_log(x_log, roles.x, tidy.values(roles.x))
        _check_log(y_log, y, [group.mean for group in groups if group.mean is not None])
        series = [
            Series(hue_value, panel, _points(groups, roles, hue_value, panel))
            for panel in panels_of(tidy, roles.facets)
            for hue_value in hues
        ]
        return Curves(
            tidy=tidy,
            y=y,
            roles=roles,
            series=tuple(line for line in series if line.points),
            x_log=is_log(tidy.values(roles.x)) if x_log is None else x_log,
            y_log=y_log,
            left_out=sum(group.value(roles.x) is None for group in groups),
        )

    @property
    def points(self) -> tuple[Group, ...]:
        """Points of all lines."""
        return tuple(point for line in self.series for point in line.points)

    def to_dict(self) -> dict[str, Any]:
        """Return the lines as JSON types: hue, facet and points of each."""
        return {
            "x": self.roles.x,
            "y": self.y,
            "hue": self.roles.other,
            "facets": list(self.roles.facets),
            "left_out": self.left_out,
            "series": [
                {
                    "hue": line.hue,
                    "facet": line.facet,
                    "points": [
                        {
                            "x": point.value(self.roles.x),
                            "y": point.mean,
                            "low": point.low,
                            "high": point.high,
                            "runs": point.runs,
                            "failed": point.failed,
                            "steady": point.steady,
                            "not_steady": point.not_steady,
                        }
                        for point in line.points
                    ],
                }
                for line in self.series
            ],
        }

    def _records(self) -> list[dict[str, Any]]:
        return [point.to_dict() for point in self.points]

    def card(self) -> Card:
        """Return one row for each point."""
        return card_of_groups(f"{len(self.points)} points", self.roles.names, self.points)

    def figure(self) -> PanelChart:
        """Return a chart of lines with 95% bands; points with error bars if x is not numeric."""
        is_number = self.tidy.frame[self.roles.x].dtype.is_numeric()
        names = [] if is_number else _all_values(self.tidy, self.roles.x)
        others = beside(self.tidy, self.roles.names)
        panels: dict[str, list[SweepCurve]] = {}
        for line in self.series:
            title = ", ".join(f"{name} = {word_of(value)}" for name, value in line.facet.items())
            panels.setdefault(title, []).append(self._curve(line, names))
        return curves_over_axis(
            list(panels.items()),
            title=f"{title_word(self.y)} over {self.roles.x}",
            subtitle=subtitle_of(self.tidy, self.points, self.roles.names)
            + without_axis(self.left_out, self.roles.x)
            + self._notes("bands" if is_number and not others else "bars", others),
            x_label=axis_label(self.roles.x),
            y_label=upright_label(self.y),
            x_ticks=self._ticks(),
            x_names=[word_of(name) for name in names],
            x_log=self.x_log and is_number,
            y_log=self.y_log,
            is_joined=not others,
        )

    def _ticks(self) -> list[float]:
        """Return the values of a logarithmic axis as ticks, if there are few of them."""
        values = self.tidy.values(self.roles.x)
        few = (
            self.x_log
            and len(values) * len({str(line.facet) for line in self.series}) <= _MOST_TICKS
        )
        return [float(f"{value:.3g}") for value in values] if few else []

    def _notes(self, drawn: str, others: Sequence[str]) -> str:
        has_interval = any(point.low is not None for point in self.points)
        interval = f" · {drawn}: 95% confidence" if has_interval else ""
        return interval + (
            f"\npoints are not joined, because they also differ in {', '.join(others)}"
            if others
            else ""
        )

    def _curve(self, series: Series, names: Sequence[Any]) -> SweepCurve:
        points = [point for point in series.points if point.mean is not None]
        x = [point.value(self.roles.x) for point in points]
        hue = self.roles.other
        return SweepCurve(
            label="" if hue is None else _label(hue, series.hue),
            x=[names.index(value) for value in x] if names else x,
            y=[_number(point.mean) for point in points],
            low=[_number(point.low) for point in points],
            high=[_number(point.high) for point in points],
            steady=[point.steady is not False for point in points],
        )


def _check_log(is_log_axis: bool | None, name: str, values: Sequence[Any]) -> None:
    if is_log_axis and not all(isinstance(value, int | float) and value > 0 for value in values):
        raise WriteampError(f"{name} has values without a logarithm; all must be numbers above 0")


def _label(name: str, value: Any) -> str:
    return value if isinstance(value, str) else f"{name} = {word_of(value)}"


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def _all_values(tidy: Tidy, name: str) -> list[Any]:
    """Return the values of an axis, with None last if some results have no value."""
    missing = [None] if tidy.frame[name].null_count() else []
    return [*tidy.values(name), *missing]


def _points(
    groups: Sequence[Group], roles: Roles, hue: Any, panel: dict[str, Any]
) -> tuple[Group, ...]:
    wanted = panel if roles.other is None else panel | {roles.other: hue}
    matching = [
        group
        for group in groups
        if group.value(roles.x) is not None
        and all(group.value(name) == value for name, value in wanted.items())
    ]
    return tuple(sorted(matching, key=lambda group: group.value(roles.x)))
