"""Figures of black-box models: their accuracy and their predictions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from writeamp.errors import WriteampError
from writeamp.plots.spec import Area, BarChart, Layer, Line, Mark, Marker, Panel, PanelChart
from writeamp.plots.style import INK, bars_of, columns_of, panels_apart, series_color

# Beside its name, a target is drawn in this unit.
LABELS = {
    "latency": "latency (µs)",
    "bandwidth": "bandwidth (MB/s)",
    "throughput": "throughput (requests/s)",
    "wa": "write amplification",
}
_COLORS = {name: series_color(index) for index, name in enumerate(LABELS)}
_DOT_OPACITY = 0.45
# Axes that span more than this are logarithmic.
_LOG_SPAN = 20.0
# Of an axis, beyond what is drawn.
_MARGIN = 0.04


@dataclass(frozen=True)
class Compared:
    """Measured and predicted values of a target, of shape (n,) both, and the error."""

    target: str
    observed: Sequence[float]
    predicted: Sequence[float]
    mre: float


@dataclass(frozen=True)
class Curve:
    """Predictions of a target at each x, with intervals; of shape (n,), x rising."""

    target: str
    x_label: str
    x: Sequence[float]
    value: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]


def measured_against_predicted(
    parts: Sequence[Compared], *, title: str, subtitle: str
) -> PanelChart:
    """Describe a panel for each target: a point a row, and the line on which all should lie."""
    panels = [_compared(part) for part in parts]
    return panels_apart(title, subtitle, panels, columns_of(len(panels)))


def curves_with_intervals(
    curves: Sequence[Curve], *, title: str, subtitle: str, level: float
) -> PanelChart:
    """Describe a panel for each curve, and its prediction interval.

    Those of one target have the same y axis, so that what hardly matters looks so. A curve without
    a point has no panel.

    Raises:
        WriteampError: none has a point.
    """
    curves = [one for one in curves if len(one.x)]
    if not curves:
        raise WriteampError("no row has a prediction to draw; without writes there is no WA")
    label = f"prediction, and the band in which {level:.0%} of unseen workloads lie"
    ends = {target: _ends([one for one in curves if one.target == target]) for target in LABELS}
    panels = [_curve(curve, label, ends[curve.target]) for curve in curves]
    return panels_apart(title, subtitle, panels, columns_of(len(panels)))


def importances(
    names: Sequence[str], shares: Sequence[float], *, target: str, title: str, subtitle: str
) -> BarChart:
    """Describe a bar for each feature, the most important first."""
    order = sorted(range(len(names)), key=lambda place: -shares[place])
    return bars_of(
        {names[place]: shares[place] for place in order},
        [f"{shares[place]:.1%}" for place in order],
        label="share of what the model explains",
        color=_COLORS[target],
        title=title,
        subtitle=subtitle,
    )


def errors_by_target(errors: Mapping[str, float], *, subtitle: str) -> BarChart:
    """Describe a bar for each target: the mean relative error to expect of its predictions."""
    return bars_of(
        errors,
        [f"{error:.2%}" for error in errors.values()],
        label="mean relative error on rows that the model had not seen",
        title="How far off the predictions are",
        subtitle=subtitle,
    )


def measures_of_score(measures: Mapping[str, float], target: str, *, subtitle: str) -> BarChart:
    """Describe a bar for each measure, a ratio; NaN has none, and below 0 is none to be seen."""
    known = {name: value for name, value in measures.items() if not math.isnan(value)}
    return bars_of(
        {name: max(value, 0.0) for name, value in known.items()},
        [f"{value:.4f}" for value in known.values()],
        label="ratio",
        color=_COLORS.get(target, series_color(0)),
        title=f"What the predictions of {target} are worth",
        subtitle=subtitle,
    )


def points_by_outcome(points: Mapping[str, int], *, subtitle: str) -> BarChart:
    """Describe a bar for each thing that may become of a point of a design."""
    return bars_of(
        points,
        [f"{count:,}" for count in points.values()],
        label="points",
        title="What became of the points",
        subtitle=subtitle,
    )


def headroom_by_model(
    names: Sequence[str], headroom: Sequence[float], sure: Sequence[float]
) -> BarChart:
    """Describe by which factor each of n models is better than what is asked of it.

    Args:
        names: of the models.
        headroom: of the predictions; infinite where nothing has a part in it, which has no bar.
        sure: of the worse ends of their intervals.
    """
    shown = [
        (one, low) if math.isfinite(one) else (0.0, math.nan)
        for one, low in zip(headroom, sure, strict=True)
    ]
    return BarChart(
        title="Which drives meet what is asked",
        subtitle="from 1 on the prediction does, and the whole interval if its mark does",
        x_label="headroom: prediction over the tightest bound",
        bars=tuple(names),
        layers=(Layer("headroom", series_color(0), tuple(one for one, _ in shown)),),
        low=tuple(low for _, low in shown),
        high=tuple(one for one, _ in shown),
        texts=tuple(f"× {one:.3g}" for one in headroom),
        levels=(Mark(1.0, INK, "dash", "what is asked"),),
    )


def _compared(part: Compared) -> Panel:
    ends = [min(*part.observed, *part.predicted), max(*part.observed, *part.predicted)]
    is_log = _is_wide(ends)
    color = _COLORS[part.target]
    points = Line(part.observed, part.predicted, color, 0.0, opacity=_DOT_OPACITY, marker="circle")
    return Panel(
        f"{part.target}: mean relative error {part.mre:.1%}",
        (Line(ends, ends, INK, 1.0, dash="dash", label="predicted as measured"), points),
        x_label=f"measured {LABELS[part.target]}",
        y_label=f"predicted {LABELS[part.target]}",
        x_log=is_log,
        y_log=is_log,
        from_zero=False,
    )


def _curve(curve: Curve, label: str, ends: tuple[float, float]) -> Panel:
    color = _COLORS[curve.target]
    is_log = _is_wide(ends)
    # A line and a band of one point could not be seen.
    marker: Marker | None = "circle" if len(curve.x) == 1 else None
    interval = [Line([*curve.x] * 2, [*curve.low, *curve.high], color, marker="tick")]
    return Panel(
        "",
        (
            Line(curve.x, curve.value, color, label=label, marker=marker),
            *(interval if marker else ()),
        ),
        x_label=curve.x_label,
        y_label=LABELS[curve.target],
        x_log=_is_wide(curve.x),
        y_log=is_log,
        areas=(Area(curve.x, curve.low, curve.high, color),),
        from_zero=False,
        y_ends=_with_margin(ends, is_log=is_log),
    )


def _ends(curves: Sequence[Curve]) -> tuple[float, float]:
    """Return the least and the greatest value of curves; any two if there are none."""
    low = [value for curve in curves for value in curve.low]
    high = [value for curve in curves for value in curve.high]
    return (min(low), max(high)) if low else (0.0, 1.0)


def _with_margin(ends: tuple[float, float], *, is_log: bool) -> tuple[float, float]:
    low, high = ends
    if is_log:
        factor = (high / low) ** _MARGIN
        return low / factor, high * factor
    return low - _MARGIN * (high - low), high + _MARGIN * (high - low)


def _is_wide(values: Sequence[float]) -> bool:
    return min(values) > 0 and max(values) > _LOG_SPAN * min(values)
