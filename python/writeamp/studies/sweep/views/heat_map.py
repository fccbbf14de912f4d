"""Heat maps: a column in each cell of two axes, in panels by the rest."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from writeamp.errors import WriteampError
from writeamp.plots.figures.sweeps import cells_over_axes
from writeamp.plots.labels import axis_label, title_word, upright_label
from writeamp.plots.spec import HeatMapChart
from writeamp.results.card import Card
from writeamp.studies.sweep.summary import Group, groups_of
from writeamp.studies.sweep.tidy import Tidy, word_of
from writeamp.studies.sweep.views.roles import Roles, panels_of, roles_of
from writeamp.studies.sweep.views.view import (
    View,
    beside,
    card_of_groups,
    subtitle_of,
    without_axis,
)

# More cells along one axis than this are too small to be told apart.
_MOST_CELLS = 60


@dataclass(frozen=True)
class HeatGrid:
    """The cells of one facet, `cells[row][column]` by the values of y and x; None if empty."""

    facet: dict[str, Any]
    cells: tuple[tuple[Group | None, ...], ...]


@dataclass(frozen=True, eq=False)
class HeatMaps(View):
    """A grid for each facet; each cell is the mean of the replicas of one choice.

    `left_out` choices have no x or no y.
    """

    tidy: Tidy
    color: str
    roles: Roles
    x_values: tuple[Any, ...]
    y_values: tuple[Any, ...]
    grids: tuple[HeatGrid, ...]
    left_out: int

    @staticmethod
    def of(
        tidy: Tidy,
        *,
        x: str | None = None,
        y: str | None = None,
        color: str = "wa",
        facet: Sequence[str] | None = None,
    ) -> HeatMaps:
        """Return the grids that are asked for; `SweepResults.heat_map` says what each argument is.

        Raises:
            WriteampError: there is no second axis, or one has too many values for cells.
        """
        tidy.found(color, "color")
        roles = roles_of(tidy, x, y, facet, part="y")
        if roles.other is None:
            raise WriteampError(
                f"a heat map needs two axes, and only {roles.x} varies; leave the kind to lines"
            )
        x_values, y_values = (tuple(tidy.values(name)) for name in (roles.x, roles.other))
        for name, values in ((roles.x, x_values), (roles.other, y_values)):
            if len(values) > _MOST_CELLS:
                raise WriteampError(
                    f"{name} has {len(values)} values, and a heat map shows at most "
                    f"{_MOST_CELLS} along an axis; fix some with where NAME=VALUE, or draw lines"
                )
        groups = groups_of(tidy, color, roles.names)
        place = {tuple(one.value(name) for name in roles.names): one for one in groups}
        grids = tuple(
            HeatGrid(
                panel,
                tuple(
                    tuple(place.get((x_value, y_value, *panel.values())) for x_value in x_values)
                    for y_value in y_values
                ),
            )
            for panel in panels_of(tidy, roles.facets)
        )
        left_out = sum(None in (one.value(roles.x), one.value(roles.other)) for one in groups)
        return HeatMaps(tidy, color, roles, x_values, y_values, grids, left_out)

    @property
    def points(self) -> tuple[Group, ...]:
        """The cells that have results."""
        return tuple(one for grid in self.grids for row in grid.cells for one in row if one)

    def to_dict(self) -> dict[str, Any]:
        """Return the values of both axes, and of each facet a row of values for each y."""
        return {
            "x": self.roles.x,
            "y": self.roles.other,
            "color": self.color,
            "facets": list(self.roles.facets),
            "left_out": self.left_out,
            "x_values": list(self.x_values),
            "y_values": list(self.y_values),
            "maps": [
                {"facet": grid.facet}
                | {
                    name: [[one and getattr(one, part) for one in row] for row in grid.cells]
                    for name, part in (("values", "mean"), ("low", "low"), ("high", "high"))
                }
                for grid in self.grids
            ],
        }

    def _records(self) -> list[dict[str, Any]]:
        return [point.to_dict() for point in self.points]

    def card(self) -> Card:
        """Return a row for each point."""
        return card_of_groups(f"{len(self.points)} points", self.roles.names, self.points)

    def figure(self) -> HeatMapChart:
        """Describe the grids; numbers of y rise upwards."""
        assert self.roles.other is not None
        rising = self.tidy.frame[self.roles.other].dtype.is_numeric()
        step = -1 if rising else 1
        unsteady = sum(one.steady is False for one in self.points)
        note = without_axis(self.left_out, f"{self.roles.x} or {self.roles.other}")
        note += f" · {unsteady} cells are not steady" if unsteady else ""
        others = beside(self.tidy, self.roles.names)
        note += f"\ncells differ in {', '.join(others)} too" if others else ""
        return cells_over_axes(
            [
                (
                    ", ".join(f"{name} = {word_of(one)}" for name, one in grid.facet.items()),
                    [[_value(one) for one in row] for row in grid.cells][::step],
                )
                for grid in self.grids
            ],
            title=f"{title_word(self.color)} over {self.roles.x} and {self.roles.other}",
            subtitle=subtitle_of(self.tidy, self.points, self.roles.names) + note,
            x_label=axis_label(self.roles.x),
            y_label=axis_label(self.roles.other),
            color_label=upright_label(self.color),
            x_ticks=_ticks(self.x_values),
            y_ticks=_ticks(self.y_values)[::step],
        )


def _value(group: Group | None) -> float:
    return math.nan if group is None or group.mean is None else group.mean


def _ticks(values: Sequence[Any]) -> list[str]:
    """Return values in few digits, if these tell them apart."""
    short = [f"{one:.3g}" if isinstance(one, float) else word_of(one) for one in values]
    return short if len(set(short)) == len(short) else [str(one) for one in values]
