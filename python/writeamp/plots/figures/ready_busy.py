"""Figure of a Ready/Busy capture: durations by class, and activity over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from writeamp.plots.spec import Line, Panel, PanelChart
from writeamp.plots.style import HOST_COLOR, MUTED, panels_apart, series_color

_Floats: TypeAlias = npt.NDArray[np.float64]

# Width of a bar, as a share of its duration: visible, but narrower than any class of operations.
_BAR_SHARE = 0.02
# Lowest y value, because a logarithmic axis cannot show 0.
_LEAST_SHOWN = 0.5


@dataclass(frozen=True)
class ClassSeries:
    """Number of operations of a class over time; both arrays have shape (n,)."""

    name: str
    start_s: _Floats
    values: _Floats


def durations_by_class(
    *,
    middle_us: _Floats,
    counts: Mapping[str, _Floats],
    window_us: tuple[float, float],
    over_time: Sequence[ClassSeries],
    duty_cycle: ClassSeries,
    subtitle: str,
) -> PanelChart:
    """Describe operations over their duration by class, and activity over time below.

    Args:
        middle_us: centres of the duration bins, in µs, shape (n,).
        counts: operations in each bin, by class, each of shape (n,).
        window_us: fixed window of programs, drawn as two dotted lines.
        over_time: operations of each class per time bucket.
        duty_cycle: share of time in which pins are busy.
        subtitle: the drive and its WA.
    """
    colors = {name: series_color(index) for index, name in enumerate(counts)}
    bars = [_bars(middle_us, values, colors[name], name) for name, values in counts.items()]
    top = max((max(bar.y) for bar in bars if bar.y), default=1.0)
    edges = [
        Line([edge_us, edge_us], [_LEAST_SHOWN, top], MUTED, 1.0, dash="dot", label=label)
        for edge_us, label in zip(window_us, ("fixed window of programs", None), strict=True)
        if edge_us > 0
    ]
    panels = (
        Panel(
            "pulses by duration",
            (*bars, *edges),
            x_label="low time, µs",
            y_label="pulses",
            x_log=True,
            y_log=True,
        ),
        Panel(
            "operations over time",
            tuple(_line(series, colors[series.name]) for series in over_time),
            x_label="time, s",
            y_label="operations",
        ),
        Panel(
            "duty cycle over time",
            (_line(duty_cycle, HOST_COLOR),),
            x_label="time, s",
            y_label="busy share of time",
        ),
    )
    return panels_apart("Operations by the low time of Ready/Busy", subtitle, panels, columns=1)


def _bars(middle_us: _Floats, values: _Floats, color: str, name: str) -> Line:
    """Return the outline of a histogram of durations."""
    total = float(values.sum())
    label = f"{name}s, {total:,.0f}"
    shown = values > 0
    if not shown.any():
        return Line([], [], color, label=label)
    place = np.floor(np.log(middle_us[shown]) / _BAR_SHARE).astype(int)
    first = int(place.min()) - 1
    sums: Any = np.bincount(place - first, weights=values[shown], minlength=place.max() - first + 2)
    x = np.exp((first + np.arange(sums.size) + 0.5) * _BAR_SHARE)
    return Line(x.tolist(), np.maximum(sums, _LEAST_SHOWN).tolist(), color, label=label)


def _line(series: ClassSeries, color: str) -> Line:
    label = series.name if series.name == "busy" else None
    return Line(series.start_s.tolist(), series.values.tolist(), color, label=label)
