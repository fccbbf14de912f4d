"""Figure of a sweep: results over one axis, a line for each value of another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from writeamp.errors import WriteampError
from writeamp.plots.spec import Area, Line, Marker, Panel, PanelChart
from writeamp.plots.style import INK, series_color, series_dash

NOT_STEADY = "not steady: may still change"

# Of the distance between two names, what the points of one name take.
_SPREAD = 0.5
# More marks than this hide their line.
_MOST_MARKS = 30
_COLUMNS = {1: 1, 2: 2, 3: 3, 4: 2}
_MOST_COLUMNS = 3


@dataclass(frozen=True)
class SweepCurve:
    """Results at each x, with the bounds of their 95% intervals (NaN for none).

    All are of shape (n,), x rising. `steady` is false where a value may still change.
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
    """Describe one panel a facet: lines with bands, or points with bars, also with `x_names`.

    Args:
        panels: the title and the curves of each; curves of one label look alike in all.
        title: what is shown.
        subtitle: what all points have in common.
        x_label: what x is.
        y_label: what was found.
        x_ticks: where the x axis is ticked; by default the drawing library chooses.
        x_names: names of the places 0, 1, … on the x axis, if it has no numbers.
        x_log: whether the x axis is logarithmic.
        y_log: whether the y axis is.
        is_joined: whether points differ in nothing but the axes, so that a line may join them.

    Raises:
        WriteampError: there is no point.
    """
    drawn = [curve for _, curves in panels for curve in curves if len(curve.x)]
    labels = list(dict.fromkeys(curve.label for curve in drawn))
    if not drawn:
        raise WriteampError("a figure of a sweep needs at least one point that found something")
    count = len(panels)
    return PanelChart(
        title=title,
        subtitle=subtitle,
        x_label=x_label,
        y_label=y_label,
        panels=tuple(
            _panel(name, curves, labels, spread=_SPREAD if x_names else 0.0, is_joined=is_joined)
            for name, curves in panels
        ),
        columns=_COLUMNS.get(count, _MOST_COLUMNS),
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
            lines.append(_bars(curve, x, color))
            lines.append(Line(x, curve.y, color, 0.0, label=label, marker="circle"))
        shown += [
            (at, y) for at, y, steady in zip(x, curve.y, curve.steady, strict=True) if not steady
        ]
    if shown:
        x, y = map(list, zip(*shown, strict=True))
        lines.append(Line(x, y, INK, 0.0, label=NOT_STEADY, marker="ring"))
    return Panel(name, tuple(lines), areas=tuple(areas))


def _bars(curve: SweepCurve, x: Sequence[float], color: str) -> Line:
    """Return one line with a gap after each bar: thousands of lines would be slow to draw."""
    bars = [
        (at, end)
        for at, low, high in zip(x, curve.low, curve.high, strict=True)
        if not (math.isnan(low) or math.isnan(high))
        for end in (low, high, math.nan)
    ]
    return Line([at for at, _ in bars], [end for _, end in bars], color)


def _bands(curve: SweepCurve, color: str) -> list[Area]:
    """Return an area for each run of points that have an interval."""
    found: list[Area] = []
    run: list[tuple[float, float, float]] = []
    for row in [*zip(curve.x, curve.low, curve.high, strict=True), (math.nan,) * 3]:
        if not any(map(math.isnan, row)):
            run.append(row)
        elif run:
            x, low, high = map(tuple, zip(*run, strict=True))
            found.append(Area(x, low, high, color))
            run = []
    return found
