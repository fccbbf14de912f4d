"""Figures of a sweep: curves over one axis, heat maps over two, and sensitivity indices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from writeamp.errors import WriteampError
from writeamp.plots.spec import (
    Area,
    BarChart,
    ColorScale,
    HeatMap,
    HeatMapChart,
    Layer,
    Line,
    Marker,
    Panel,
    PanelChart,
)
from writeamp.plots.style import (
    INK,
    MOST_COLUMNS,
    NOT_STEADY,
    columns_of,
    error_bars,
    series_color,
    series_dash,
    with_error,
    with_legend_of_error,
)

# Width over which the points at one name are spread, as a share of the distance between names.
_SPREAD = 0.5
# Lines with more points have no marks, because marks would hide the line.
_MOST_MARKS = 30


@dataclass(frozen=True)
class SweepCurve:
    """Results at each x, with the bounds of their 95% intervals (NaN if missing).

    All are of shape (n,), x increasing. `steady` is False where a value may still change.
    """

    label: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]
    steady: Sequence[bool]


def curves_over_axis(
    panels: Sequence[tuple[str, Sequence[SweepCurve]]],
    *,
    title: str,
    subtitle: str,
    x_label: str,
    y_label: str,
    x_ticks: Sequence[float] = (),
    x_names: Sequence[str] = (),
    x_log: bool = False,
    y_log: bool = False,
    is_joined: bool = True,
) -> PanelChart:
    """Describe a metric over one axis of a sweep: lines with bands, or points with error bars.

    Args:
        panels: title and curves of each; curves with the same label have the same style.
        title: of the figure.
        subtitle: settings that all points share.
        x_label: label of the x axis.
        y_label: label of the y axis.
        x_ticks: ticks of the x axis; by default the drawing library chooses.
        x_names: names of the positions 0, 1, … on the x axis, if x is not a number; points are
            then not joined.
        x_log: True for a logarithmic x axis.
        y_log: True for a logarithmic y axis.
        is_joined: True to join points by lines, if they differ only in the axes of the figure.

    Raises:
        WriteampError: no curve has a point.
    """
    drawn = [curve for _, curves in panels for curve in curves if len(curve.x)]
    labels = list(dict.fromkeys(curve.label for curve in drawn))
    if not drawn:
        raise WriteampError("a figure of a sweep needs at least one point with a result")
    return PanelChart(
        title=title,
        subtitle=subtitle,
        x_label=x_label,
        y_label=y_label,
        panels=tuple(
            _panel(name, curves, labels, spread=_SPREAD if x_names else 0.0, is_joined=is_joined)
            for name, curves in panels
        ),
        columns=columns_of(len(panels)),
        x_ticks=tuple(x_ticks),
        x_log=x_log,
        y_log=y_log,
        x_names=tuple(x_names),
    )


def _panel(
    name: str,
    curves: Sequence[SweepCurve],
    labels: Sequence[str],
    *,
    spread: float,
    is_joined: bool,
) -> Panel:
    lines: list[Line] = []
    areas: list[Area] = []
    shown: list[tuple[float, float]] = []
    for curve in filter(lambda curve: len(curve.x), curves):
        index = labels.index(curve.label)
        color, dash = series_color(index), series_dash(index)
        label = curve.label or None
        x = [at + spread * (index - (len(labels) - 1) / 2) / len(labels) for at in curve.x]
        if is_joined and not spread:
            marker: Marker | None = "circle" if len(x) <= _MOST_MARKS else None
            areas += _bands(curve, color)
            lines.append(Line(x, curve.y, color, dash=dash, label=label, marker=marker))
        else:
            lines.append(error_bars(x, curve.low, curve.high, color))
            lines.append(Line(x, curve.y, color, 0.0, label=label, marker="circle"))
        shown += [
            (at, y) for at, y, steady in zip(x, curve.y, curve.steady, strict=True) if not steady
        ]
    if shown:
        x, y = map(list, zip(*shown, strict=True))
        lines.append(Line(x, y, INK, 0.0, label=NOT_STEADY, marker="ring"))
    return Panel(name, tuple(lines), areas=tuple(areas))


def _bands(curve: SweepCurve, color: str) -> list[Area]:
    """Return an area for each sequence of neighbouring points that have an interval."""
    areas: list[Area] = []
    run: list[tuple[float, float, float]] = []
    for row in [*zip(curve.x, curve.low, curve.high, strict=True), (math.nan,) * 3]:
        if not any(map(math.isnan, row)):
            run.append(row)
        elif run:
            x, low, high = map(tuple, zip(*run, strict=True))
            areas.append(Area(x, low, high, color))
            run = []
    return areas


# Characters that fit one row of all maps.
_CHARACTERS = 95


def cells_over_axes(
    maps: Sequence[tuple[str, Sequence[Sequence[float]]]],
    *,
    title: str,
    subtitle: str,
    x_label: str,
    y_label: str,
    color_label: str,
    x_ticks: Sequence[str],
    y_ticks: Sequence[str],
) -> HeatMapChart:
    """Describe heat maps on one colour scale, from the lowest value to the highest.

    Args:
        maps: title and values of each: a row for each of `y_ticks` from the top, and a column for
            each of `x_ticks`; NaN for a missing value.
        title: of the figure.
        subtitle: settings that all cells share.
        x_label: label of the x axis.
        y_label: label of the y axis.
        color_label: name of the values that colours show.
        x_ticks: the values of x.
        y_ticks: the values of y, from the top.

    Raises:
        WriteampError: no cell has a value.
    """
    numbers = [value for _, rows in maps for row in rows for value in row if not math.isnan(value)]
    if not numbers:
        raise WriteampError("a heat map of a sweep needs at least one point with a result")
    low, high = min(numbers), max(numbers)
    columns = min(len(maps), MOST_COLUMNS)
    number = _number_format(low, high)
    widest = max(len(number.format(value)) for value in numbers)
    fits = (widest + 1) * len(x_ticks) * columns <= _CHARACTERS
    return HeatMapChart(
        title=title,
        subtitle=subtitle,
        x_label=x_label,
        y_label=y_label,
        x_ticks=tuple(x_ticks),
        y_ticks=tuple(y_ticks),
        color_label=color_label,
        maps=tuple(HeatMap(name, tuple(map(tuple, rows))) for name, rows in maps),
        columns=columns,
        scale=ColorScale(low, high),
        cell_format=number if fits else "",
    )


def _number_format(low: float, high: float) -> str:
    """Return a format with three digits of the highest value, more if the range is small."""
    size = max(abs(low), abs(high))
    decimals = 2 - math.floor(math.log10(size)) if size > 0 else 2
    if high > low:
        decimals = max(decimals, 1 - math.floor(math.log10(high - low)))
    return f"{{:.{max(0, decimals)}f}}" if decimals <= 6 else "{:.3g}"


@dataclass(frozen=True)
class IndexBar:
    """A sensitivity index of an axis, with the bounds of its 95% interval (NaN if none)."""

    axis: str
    measure: str
    value: float
    low: float
    high: float
    note: str = ""


def indices_by_axis(
    bars: Sequence[IndexBar], *, title: str, subtitle: str, x_label: str
) -> BarChart:
    """Describe sensitivity indices as bars, grouped by swept axis, with a colour per measure.

    Args:
        bars: from the top; the first bar of each axis has the axis's name.
        title: of the figure.
        subtitle: axes and design of the sweep.
        x_label: name of the indices.
    """
    measures = list(dict.fromkeys(bar.measure for bar in bars))
    texts = tuple(with_error(bar.value, bar.low, bar.high) for bar in bars)
    return BarChart(
        title=title,
        subtitle=with_legend_of_error(subtitle, texts),
        x_label=x_label,
        bars=tuple(
            bar.axis if at == 0 or bars[at - 1].axis != bar.axis else ""
            for at, bar in enumerate(bars)
        ),
        layers=tuple(
            Layer(
                measure,
                series_color(index),
                tuple(max(0.0, bar.value) if bar.measure == measure else 0.0 for bar in bars),
            )
            for index, measure in enumerate(measures)
        ),
        low=tuple(max(0.0, bar.low) if not math.isnan(bar.low) else math.nan for bar in bars),
        high=tuple(max(0.0, bar.high) if not math.isnan(bar.high) else math.nan for bar in bars),
        texts=tuple(f"{text}{bar.note}" for text, bar in zip(texts, bars, strict=True)),
    )
