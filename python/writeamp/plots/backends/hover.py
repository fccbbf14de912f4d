"""Values of a figure and their places, for pages that show them under the pointer."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from writeamp.plots.spec import BarChart, FigureSpec, HeatMapChart, TreeChart

# Of one line; what lies between is seen, and its neighbours are told.
_MOST_OF_A_LINE = 400
_MOST_IN_ALL = 8_000
# Along a bar, so that it tells its value wherever it is pointed at.
_STEPS = 12


@dataclass(frozen=True)
class Value:
    """A place, in shares of the figure from its upper left, and what is said there.

    `axes` and `series` are the numbers of those that it belongs to, -1 of none.
    """

    x: float
    y: float
    text: str
    axes: int
    series: int


def values_in(
    figure: Figure, spec: FigureSpec, series: Mapping[Artist, int] = MappingProxyType({})
) -> list[Value]:
    """Return the values that a drawn figure tells, with their places; `series` number its lines."""
    if isinstance(spec, TreeChart):
        return []
    if isinstance(spec, BarChart):
        return list(_of_bars(figure, spec))
    if isinstance(spec, HeatMapChart):
        return list(_of_cells(figure, spec))
    return list(_of_lines(figure, series))


def _of_bars(figure: Figure, spec: BarChart) -> Iterator[Value]:
    axes = figure.axes[0]
    for at, (place, end) in enumerate(zip(spec.places(), spec.ends(), strict=True)):
        parts = [f"{layer.label}: {layer.values[at]:.4f}" for layer in spec.layers]
        if spec.marks and not math.isnan(spec.marks[at]):
            parts.append(f"theory: {spec.marks[at]:.4f}")
        text = "\n".join([spec.bars[at], spec.texts[at], *parts])
        along = np.linspace(0, end, _STEPS)
        points = np.column_stack([along, np.full(_STEPS, place)])
        yield from _values(figure, axes, points, [text] * _STEPS)


def _of_cells(figure: Figure, spec: HeatMapChart) -> Iterator[Value]:
    for axes, heat_map in zip(figure.axes, spec.maps, strict=False):
        cells = [
            (column, row, f"{x}, {y}\n{spec.color_label}: {value:.6g}")
            for row, (y, values) in enumerate(zip(spec.y_ticks, heat_map.values, strict=True))
            for column, (x, value) in enumerate(zip(spec.x_ticks, values, strict=True))
            if not math.isnan(value)
        ]
        columns, rows, texts = zip(*cells, strict=True) if cells else ((), (), ())
        yield from _values(figure, axes, np.column_stack([columns, rows]), texts)


def _of_lines(figure: Figure, series: Mapping[Artist, int]) -> Iterator[Value]:
    # A line that crosses the axes at a value has no points of its own.
    shown = [axes for axes in figure.axes if axes.get_visible()]
    lines = [
        (at, axes, line)
        for at, axes in enumerate(shown)
        for line in axes.lines
        if line.get_transform() == axes.transData
    ]
    most = min(_MOST_OF_A_LINE, _MOST_IN_ALL // max(1, len(lines)))
    for at, axes, line in lines:
        points = np.asarray(line.get_xydata(), dtype=np.float64)
        points = points[np.isfinite(points).all(axis=1)]
        points = points[:: max(1, math.ceil(len(points) / max(1, most)))]
        label = str(line.get_label())
        name = "" if label.startswith("_") else f"{label}\n"
        texts = [f"{name}{x:.6g}, {y:.6g}" for x, y in points]
        of = (at, series.get(line, -1))
        yield from _values(figure, axes, points, texts, of)


def _values(
    figure: Figure,
    axes: Axes,
    points: npt.NDArray[np.float64],
    texts: Sequence[str],
    of: tuple[int, int] = (-1, -1),
) -> Iterator[Value]:
    """Return values at points of an axes' data, those that lie within it."""
    if not len(texts):
        return
    pixels = axes.transData.transform(points)
    shares = figure.transFigure.inverted().transform(pixels)
    box = axes.get_position()
    for (right, up), text in zip(shares, texts, strict=True):
        if box.x0 - 1e-6 <= right <= box.x1 + 1e-6 and box.y0 - 1e-6 <= up <= box.y1 + 1e-6:
            yield Value(float(right), 1 - float(up), text, *of)
