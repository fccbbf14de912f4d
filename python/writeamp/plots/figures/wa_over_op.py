"""Figure of write amplification over the spare space of a drive, with theory."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from writeamp.errors import WriteampError
from writeamp.plots.labels import axis_label, upright_label
from writeamp.plots.spec import Band, Line, LineChart, Mark
from writeamp.plots.style import INK, MUTED, NOT_STEADY, error_bars, series_color

# Maximum characters per line of the subtitle and of the legend.
_SUBTITLE_CHARACTERS = 110
_LEGEND_CHARACTERS = 30
# Space above and below the values on the y axis, as a share of their range.
_ROOM = 0.05


@dataclass(frozen=True)
class OpPoint:
    """Result at one `x`: WA, its 95% interval (NaN if none), and WA by theory."""

    x: float
    wa: float
    low: float
    high: float
    steady: bool
    theory_wa: float


@dataclass(frozen=True)
class WaTarget:
    """Requested WA, the required op, and the interval of the op (NaN if none)."""

    wa: float
    op: float
    op_low: float
    op_high: float


def wa_over_op(
    points: Sequence[OpPoint],
    *,
    ratio: str,
    theory: str,
    title: str,
    facts: str,
    target: WaTarget | None = None,
) -> LineChart:
    """Describe WA over a ratio of spare space: points with intervals, theory dashed.

    Args:
        points: results, x increasing.
        ratio: name of x: op, fill or spare_factor.
        theory: name of the model that the dashed line shows.
        title: of the figure.
        facts: settings that all points share.
        target: the requested WA and its op, or None.

    Raises:
        WriteampError: `points` is empty.
    """
    if not points:
        raise WriteampError("a figure of WA over op needs at least one point")
    color, theory_color = series_color(0), INK
    x = [point.x for point in points]
    low, high = [point.low for point in points], [point.high for point in points]
    unsteady = [point for point in points if not point.steady]
    lines = [
        Line(
            x,
            [point.theory_wa for point in points],
            theory_color,
            1.2,
            0.8,
            "dash",
            _legend(theory),
        ),
        error_bars(x, low, high, color, width_pt=1.2, opacity=0.7),
        Line(x, [point.wa for point in points], color, label="simulated, ±95%", marker="circle"),
    ]
    if unsteady:
        rings = ([point.x for point in unsteady], [point.wa for point in unsteady])
        lines.append(Line(*rings, INK, 0.0, label=NOT_STEADY, marker="ring"))
    return LineChart(
        title=title,
        subtitle=_wrapped(facts, _SUBTITLE_CHARACTERS),
        x_label=axis_label(ratio),
        y_label=upright_label("wa"),
        lines=(*lines, *([] if target is None else _target_point(target))),
        bands=() if target is None else _interval(points, target),
        levels=() if target is None else (_target_line(target),),
    )


def _target_line(target: WaTarget) -> Mark:
    return Mark(target.wa, MUTED, "dot", f"target: WA {target.wa:.6g}")


def _target_point(target: WaTarget) -> list[Line]:
    color, interval = series_color(1), ""
    if not math.isnan(target.op_low):
        interval = f"\n({target.op_low:.4g} to {target.op_high:.4g})"
    label = f"op {target.op:.4g}{interval}"
    return [Line([target.op], [target.wa], color, 0.0, label=label, marker="diamond")]


def _interval(points: Sequence[OpPoint], target: WaTarget) -> tuple[Band, ...]:
    if math.isnan(target.op_low):
        return ()
    shown = [
        value for point in points for value in (point.wa, point.theory_wa, point.low, point.high)
    ]
    shown = [value for value in shown if not math.isnan(value)]
    room = _ROOM * (max(shown) - min(shown))
    ends = min(shown) - room, max(shown) + room
    return (Band(target.op_low, target.op_high, *ends, series_color(1)),)


def _legend(label: str) -> str:
    return _wrapped(f"theory: {label}", _LEGEND_CHARACTERS)


def _wrapped(text: str, characters: int) -> str:
    return "\n".join(textwrap.wrap(text, characters, break_on_hyphens=False))
