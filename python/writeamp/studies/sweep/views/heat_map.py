"""Heat maps: a result in a cell for each pair of values of two axes, in panels."""

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

# With more cells in a row or column, they would be too small to distinguish.
_MOST_CELLS = 60


@dataclass(frozen=True)
class HeatGrid:
    """Cells of one panel, `cells[row][column]` by the values of y and x; None without a result."""

    facet: dict[str, Any]
    cells: tuple[tuple[Group | None, ...], ...]


@dataclass(frozen=True, eq=False)
class HeatMaps(View):
    """Grid of cells for each panel; each cell is the mean over replicas of one combination.

    `left_out` is the number of points that have no x or no y.
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
        """Return the requested grids; `SweepResults.heat_map` describes the arguments.

        Raises:
            WriteampError: a second axis is missing, or an axis has too many values for cells.
        """
        tidy.result_column(color, "color")
        roles = roles_of(tidy, x, y, facet, role="y")
        if roles.other is None:
            raise WriteampError(
                f"a heat map needs two axes, but only {roles.x} varies; use the kind lines"
            )
        x_values, y_values = (tuple(tidy.values(name)) for name in (roles.x, roles.other))
        for name, values in ((roles.x, x_values), (roles.other, y_values)):
            if len(values) > _MOST_CELLS:
                raise WriteampError(
                    f"{name} has {len(values)} values, and a heat map shows at most "
                    f"{_MOST_CELLS} along an axis; fix some with where NAME=VALUE, or draw lines"
                )
        groups = groups_of(tidy, color, roles.names)
        place = {tuple(group.value(name) for name in roles.names): group for group in groups}
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
        left_out = sum(None in (group.value(roles.x), group.value(roles.other)) for group in groups)
        return HeatMaps(tidy, color, roles, x_values, y_values, grids, left_out)

    @property
    def points(self) -> tuple[Group, ...]:
        """Cells that have a result."""
        return tuple(group for grid in self.grids for row in grid.cells for group in row if group)

    def to_dict(self) -> dict[str, Any]:
        """Return the values of both axes and, for each panel, the cells by value of y."""
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
                    name: [
                        [group and getattr(group, attribute) for group in row] for row in grid.cells
                    ]
                    for name, attribute in (("values", "mean"), ("low", "low"), ("high", "high"))
                }
                for grid in self.grids
            ],
        }

    def _records(self) -> list[dict[str, Any]]:
        return [point.to_dict() for point in self.points]

    def card(self) -> Card:
        """Return one row for each cell that has a result."""
        return card_of_groups(f"{len(self.points)} points", self.roles.names, self.points)

    def figure(self) -> HeatMapChart:
        """Return a chart of the grids of cells; numeric y values ascend upwards."""
        assert self.roles.other is not None
        rising = self.tidy.frame[self.roles.other].dtype.is_numeric()
        step = -1 if rising else 1
        unsteady = sum(group.steady is False for group in self.points)
        note = without_axis(self.left_out, f"{self.roles.x} or {self.roles.other}")
        note += f" · {unsteady} cells are not steady" if unsteady else ""
        others = beside(self.tidy, self.roles.names)
        note += f"\ncells also differ in {', '.join(others)}" if others else ""
        return cells_over_axes(
            [
                (
                    ", ".join(f"{name} = {word_of(value)}" for name, value in grid.facet.items()),
                    [[_value(group) for group in row] for row in grid.cells][::step],
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
    """Return values as text with few digits, or all digits if some would look equal."""
    short = [f"{value:.3g}" if isinstance(value, float) else word_of(value) for value in values]
    return short if len(set(short)) == len(short) else [str(value) for value in values]
