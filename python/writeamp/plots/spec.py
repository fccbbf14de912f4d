"""Specifications of figures, independent of drawing libraries."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

Dash: TypeAlias = Literal["solid", "dash", "dot", "dashdot", "longdash"]
Marker: TypeAlias = Literal["circle", "square", "diamond", "triangle", "cross", "ring", "tick"]


@dataclass(frozen=True)
class Line:
    """A polyline in data coordinates.

    Without a label it has no legend entry. With a marker, each point is marked; a width of 0 draws
    only the marks. NaN makes a gap.
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

    If the pointer is at the upper end, `text` is shown, if any.
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
    """Transparent area between two lines over the same x."""

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
    """A small chart below a `LineChart`, on the same x axis, with a y axis from 0.

    With `rows`, each y is the number of a row, 0 at the bottom, and the axis shows their names.
    With `filled`, the area under each line is filled.
    """

    label: str
    lines: tuple[Line, ...]
    rows: tuple[str, ...] = ()
    filled: bool = False


@dataclass(frozen=True)
class LineChart:
    """Lines over a numeric x axis.

    `levels` are horizontal lines across the chart; `instants` are vertical lines across the chart
    and its strips. The x axis begins at `x_from`. With `counts`, y begins at 0 and both axes have
    whole numbers only.
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
    """A segment of each bar, for example the pages programmed for one cause."""

    label: str
    color: str
    values: tuple[float, ...]


@dataclass(frozen=True)
class BarChart:
    """Horizontal bars from 0, in layers, first bar on top.

    Attributes:
        title, subtitle, x_label: texts.
        bars: names of the bars.
        layers: segments of the bars; if empty, only `points` are drawn, and the axis shows their
            range.
        texts: text at the right of each bar.
        low, high: ends of each error bar; NaN (the default) for none.
        levels: vertical lines at an x value.
        sections: heading of each bar, shown once above consecutive bars with the same heading; or
            empty.
        points: marks on bars; y is the number of the bar, 0 at the top.
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
        """Fill missing error bars with NaN."""
        for name in ("low", "high"):
            ends = getattr(self, name) or (math.nan,) * len(self.bars)
            object.__setattr__(self, name, ends)

    def places(self) -> tuple[float, ...]:
        """Return the line number of each bar from the top; a heading takes a line of its own."""
        return tuple(
            index + sum(bar <= index for _, bar in self.headings())
            for index in range(len(self.bars))
        )

    def headings(self) -> tuple[tuple[str, int], ...]:
        """Return the headings, each with the number of the bar below it."""
        starts = (
            at for at, name in enumerate(self.sections) if not at or name != self.sections[at - 1]
        )
        return tuple((self.sections[at], at) for at in starts)

    def ends(self) -> tuple[float, ...]:
        """Return the right end of each bar."""
        return tuple(sum(layer.values[i] for layer in self.layers) for i in range(len(self.bars)))

    def reaches(self) -> tuple[float, ...]:
        """Return for each bar the largest x of the bar, its error bar and its points."""
        # max() ignores a NaN if the first value is a number, so the bar's end comes first.
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

    The fields from `x_label` on, except `areas`, are used only if the chart has `own_axes`. Linear
    axes then begin at 0, unless `from_zero` is False. `x_ends` and `y_ends` are the limits of the
    axes. With `x_names`, x is the number of a name, from 0.
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

    Each label is in the legend once, in its first style. If `x_ticks` is empty, the drawing library
    chooses ticks. With `x_names`, x is the number of a name, from 0. With `own_y`, each panel has
    its own y axis from 0. With `own_axes`, the axes of each panel are set by the panel, not by the
    chart.
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
    """Colour scale from `low` to `high`; values outside have the colour of the nearer end.

    If the scale `diverges`, the palest colour is in the middle, otherwise at `low`.
    """

    low: float
    high: float
    diverges: bool = False

    def share(self, value: float) -> float:
        """Return the position of a value on the scale, from 0 to 1; 0 if the scale has no width."""
        span = self.high - self.low
        return min(max((value - self.low) / span, 0.0), 1.0) if span else 0.0


@dataclass(frozen=True)
class HeatMap:
    """A grid of values: `values[row][column]`, the first row at the top; NaN cells are empty."""

    title: str
    values: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class HeatMapChart:
    """Heat maps in rows of `columns`, with the same axes and the same colour scale.

    `cell_format` is the `str.format` format of the text in cells, or "" for no text. Axes without
    ticks have no names.
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
    """A box of a `TreeChart`: its text, the colour of its edge, and the numbers of its children."""

    text: str
    color: str
    below: tuple[int, ...] = ()


@dataclass(frozen=True)
class TreeChart:
    """A tree of boxes, the root first; parents and children are joined by lines."""

    title: str
    subtitle: str
    nodes: tuple[TreeNode, ...]

    def places(self) -> tuple[tuple[float, float], ...]:
        """Return the x and y of each node: leaves side by side, parents centred above children.

        The x of a leaf is its number from the left. The y of a node is minus its level; the level
        of the root is 0.
        """
        places: dict[int, tuple[float, float]] = {}
        leaves = 0

        def place(number: int, level: int) -> float:
            nonlocal leaves
            below = [place(child, level + 1) for child in self.nodes[number].below]
            if not below:
                below = [float(leaves)]
                leaves += 1
            places[number] = (sum(below) / len(below), float(-level))
            return places[number][0]

        place(0, 0)
        return tuple(places[number] for number in range(len(self.nodes)))


FigureSpec: TypeAlias = LineChart | BarChart | PanelChart | HeatMapChart | TreeChart
