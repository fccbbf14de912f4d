"""What a figure shows, in terms that every drawing library can draw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

Dash: TypeAlias = Literal["solid", "dash", "dot", "dashdot", "longdash"]


@dataclass(frozen=True)
class Line:
    """A polyline in data coordinates; without a label it has no entry in the legend."""

    x: Sequence[float]
    y: Sequence[float]
    color: str
    width_pt: float = 1.5
    opacity: float = 1.0
    dash: Dash = "solid"
    label: str | None = None


@dataclass(frozen=True)
class Band:
    """A filled rectangle in data coordinates, drawn behind the lines."""

    x_low: float
    x_high: float
    y_low: float
    y_high: float
    color: str


@dataclass(frozen=True)
class Mark:
    """A line across the whole figure at one value of an axis."""

    value: float
    color: str
    dash: Dash
    label: str | None = None


@dataclass(frozen=True)
class LineChart:
    """Lines over a numeric x axis; `levels` cross it at a y value, `instants` at an x value.

    A newline in `y_label` breaks the line.
    """

    title: str
    subtitle: str
    x_label: str
    y_label: str
    lines: tuple[Line, ...]
    bands: tuple[Band, ...] = ()
    levels: tuple[Mark, ...] = ()
    instants: tuple[Mark, ...] = ()


@dataclass(frozen=True)
class Layer:
    """One part of every bar, for example the pages programmed for one cause."""

    label: str
    color: str
    values: tuple[float, ...]


@dataclass(frozen=True)
class BarChart:
    """Horizontal bars from 0, in layers, first bar on top; `levels` cross them at an x value.

    `low` and `high` end each bar's error bar (NaN for none) and `texts` stand at its right; all
    have one element a bar.
    """

    title: str
    subtitle: str
    x_label: str
    bars: tuple[str, ...]
    layers: tuple[Layer, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    texts: tuple[str, ...]
    levels: tuple[Mark, ...] = ()

    def ends(self) -> tuple[float, ...]:
        """Return the right end of each bar."""
        return tuple(sum(layer.values[i] for layer in self.layers) for i in range(len(self.bars)))

    def reaches(self) -> tuple[float, ...]:
        """Return the right end of each bar or of its error bar, whichever is further right."""
        # max() with the end first ignores a NaN.
        return tuple(max(end, high) for end, high in zip(self.ends(), self.high, strict=True))


FigureSpec: TypeAlias = LineChart | BarChart
