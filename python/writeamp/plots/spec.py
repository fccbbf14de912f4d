"""Specifications of figures, in terms that every drawing library can draw."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

Dash: TypeAlias = Literal["solid", "dash", "dot", "dashdot", "longdash"]
Marker: TypeAlias = Literal["circle", "square", "diamond", "triangle", "cross", "ring", "tick"]


@dataclass(frozen=True)
class Line:
    """A polyline in data coordinates; without a label it has no entry in the legend.

    With a marker every point is marked, and a width of 0 leaves only the marks. NaN makes a gap.
    """

    x: Sequence[float]
    y: Sequence[float]
    color: str
    width_pt: float = 1.5
    opacity: float = 1.0
    dash: Dash = "solid"
    label: str | None = None
    marker: Marker | None = None


@dataclass(frozen=True)
class Band:
    """A filled rectangle in data coordinates, drawn behind the lines.

    With a `text`, that is shown where the pointer is above its upper end.
    """

    x_low: float
    x_high: float
    y_low: float
    y_high: float
    color: str
    opacity: float = 0.2
    text: str = ""


@dataclass(frozen=True)
class Area:
    """Area between two lines over the same x, filled faintly behind them."""

    x: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]
    color: str


@dataclass(frozen=True)
class Mark:
    """A line across the whole figure at one value of an axis."""

    value: float
    color: str
    dash: Dash
    label: str | None = None


@dataclass(frozen=True)
class Strip:
    """A low chart under a `LineChart`, on the same x axis, with a y axis from 0.

    With `rows`, each y is the number of a row, 0 at the bottom, and the axis shows their names.
    With `filled`, the area under each line is filled.
    """

    label: str
    lines: tuple[Line, ...]
    rows: tuple[str, ...] = ()
    filled: bool = False


@dataclass(frozen=True)
class LineChart:
    """Lines over a numeric x axis; `levels` cross it at a y value, `instants` at an x value.

    Instants cross the strips too. A newline in a label of the y axis breaks the line. The x axis
    begins at `x_from`; with `counts`, y begins at 0 and both axes have whole numbers only.
    """

    title: str
    subtitle: str
    x_label: str
    y_label: str
    lines: tuple[Line, ...]
    bands: tuple[Band, ...] = ()
    levels: tuple[Mark, ...] = ()
    instants: tuple[Mark, ...] = ()
    strips: tuple[Strip, ...] = ()
    x_from: float = 0.0
    counts: bool = False


@dataclass(frozen=True)
class Layer:
    """One part of every bar, for example the pages programmed for one cause."""

    label: str
    color: str
    values: tuple[float, ...]


@dataclass(frozen=True)
class BarChart:
    """Horizontal bars from 0, in layers, first bar on top; `levels` cross them at an x value.

    `low` and `high` end each bar's error bar (NaN for none, which is the default) and `texts` stand
    at its right; all have one element a bar. So have `sections`, if there are any: bars that follow
    each other with the same one stand together, under it as their heading. `points` are marks on
    the bars, whose y is the number of the bar. Without `layers` there are points alone, and the
    axis shows no more than their range.
    """

    title: str
    subtitle: str
    x_label: str
    bars: tuple[str, ...]
    layers: tuple[Layer, ...]
    texts: tuple[str, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    levels: tuple[Mark, ...] = ()
    sections: tuple[str, ...] = ()
    points: tuple[Line, ...] = ()

    def __post_init__(self) -> None:
        """Leave the error bars out where none are given."""
        for name in ("low", "high"):
            ends = getattr(self, name) or (math.nan,) * len(self.bars)
            object.__setattr__(self, name, ends)

    def places(self) -> tuple[float, ...]:
        """Return how far down each bar stands; a heading takes the room of one."""
        return tuple(
            at + sum(before <= at for _, before in self.headings()) for at in range(len(self.bars))
        )

    def headings(self) -> tuple[tuple[str, int], ...]:
        """Return the headings, each with the number of the bar that it stands above."""
        starts = (
            at for at, name in enumerate(self.sections) if not at or name != self.sections[at - 1]
        )
        return tuple((self.sections[at], at) for at in starts)

    def ends(self) -> tuple[float, ...]:
        """Return the right end of each bar."""
        return tuple(sum(layer.values[i] for layer in self.layers) for i in range(len(self.bars)))

    def reaches(self) -> tuple[float, ...]:
        """Return the right end of each bar, of its error bar or its points, the furthest right."""
        # max() with the end first ignores a NaN.
        return tuple(
            max(end, high, *(value for _, value in self.points_of(at)))
            for at, (end, high) in enumerate(zip(self.ends(), self.high, strict=True))
        )

    def points_of(self, bar: int) -> list[tuple[str, float]]:
        """Return the label and the value of each point on a bar."""
        return [
            (line.label or "", x)
            for line in self.points
            for x, y in zip(line.x, line.y, strict=True)
            if y == bar
        ]


@dataclass(frozen=True)
class Panel:
    """One of the small charts of a `PanelChart`.

    In a chart whose panels have `own_axes`, its axes are its own: their labels, and whether they
    are logarithmic; the others begin at 0, unless the panel is not `from_zero`. `x_ends` and
    `y_ends` are then the least and the greatest x and y that are shown; with `x_names`, x is the
    number of a name, from 0.
    """

    title: str
    lines: tuple[Line, ...]
    levels: tuple[Mark, ...] = ()
    x_label: str = ""
    y_label: str = ""
    x_log: bool = False
    y_log: bool = False
    areas: tuple[Area, ...] = ()
    from_zero: bool = True
    x_ends: tuple[float, float] | None = None
    y_ends: tuple[float, float] | None = None
    x_names: tuple[str, ...] = ()


@dataclass(frozen=True)
class PanelChart:
    """Small line charts in rows of `columns`, with the same axes, and one legend for all.

    A label is in the legend once, as it is drawn where it comes first. Without `x_ticks` the
    drawing library chooses them; with `x_names`, x is the number of a name, from 0. With `own_y`
    each panel has a y axis of its own, from 0, for what its title names; with `own_axes` each has
    both, as it says itself, and those of the chart say nothing.
    """

    title: str
    subtitle: str
    x_label: str
    y_label: str
    panels: tuple[Panel, ...]
    columns: int
    x_ticks: tuple[float, ...] = ()
    x_log: bool = False
    y_log: bool = False
    own_y: bool = False
    own_axes: bool = False
    x_names: tuple[str, ...] = ()


@dataclass(frozen=True)
class ColorScale:
    """Values and their colours: those beyond an end have the colour of that end.

    One that `diverges` has its palest colour amid the ends, another one at `low`.
    """

    low: float
    high: float
    diverges: bool = False

    def share(self, value: float) -> float:
        """Return how far along the scale a value lies, from 0 to 1; 0 on a scale of one value."""
        span = self.high - self.low
        return min(max((value - self.low) / span, 0.0), 1.0) if span else 0.0


@dataclass(frozen=True)
class HeatMap:
    """One grid of values: `values[row][column]`, the first row at the top; NaN stays empty."""

    title: str
    values: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class HeatMapChart:
    """Heat maps in rows of `columns`, on the same axes and the same scale of colours.

    Each cell shows its value as `cell_format` (of `str.format`) writes it, if there is one. Axes
    without ticks have no names either.
    """

    title: str
    subtitle: str
    x_label: str
    y_label: str
    x_ticks: tuple[str, ...]
    y_ticks: tuple[str, ...]
    color_label: str
    maps: tuple[HeatMap, ...]
    columns: int
    scale: ColorScale
    cell_format: str = "{:.2f}"

    def cell_text(self, value: float) -> str:
        """Return the text of a cell."""
        return "" if math.isnan(value) else self.cell_format.format(value)


@dataclass(frozen=True)
class TreeNode:
    """A box of a `TreeChart`: its text, the colour of its rim, and the numbers of those below."""

    text: str
    color: str
    below: tuple[int, ...] = ()


@dataclass(frozen=True)
class TreeChart:
    """A tree of boxes, the root first; those below each other are joined by lines."""

    title: str
    subtitle: str
    nodes: tuple[TreeNode, ...]

    def places(self) -> tuple[tuple[float, float], ...]:
        """Return where each node stands: leaves side by side, others amid those below them.

        A leaf's x is its number from the left, a node's y its level, 0 for the root and down.
        """
        found: dict[int, tuple[float, float]] = {}
        leaves = 0

        def place(number: int, level: int) -> float:
            nonlocal leaves
            below = [place(one, level + 1) for one in self.nodes[number].below]
            if not below:
                below = [float(leaves)]
                leaves += 1
            found[number] = (sum(below) / len(below), float(-level))
            return found[number][0]

        place(0, 0)
        return tuple(found[number] for number in range(len(self.nodes)))


FigureSpec: TypeAlias = LineChart | BarChart | PanelChart | HeatMapChart | TreeChart
