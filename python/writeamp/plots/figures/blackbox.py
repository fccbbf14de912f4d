"""Figures of black-box models: their accuracy and their predictions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from writeamp.errors import WriteampError
from writeamp.plots.spec import Area, BarChart, Layer, Line, Mark, Marker, Panel, PanelChart
from writeamp.plots.style import INK, bars_of, columns_of, panels_apart, series_color

# Axis labels of predicted metrics, with units.
LABELS = {
    "latency": "latency (µs)",
    "bandwidth": "bandwidth (MB/s)",
    "throughput": "throughput (requests/s)",
    "wa": "write amplification",
}
_COLORS = {name: series_color(index) for index, name in enumerate(LABELS)}
_DOT_OPACITY = 0.45
# Axes are logarithmic if the ratio of their ends is larger.
_LOG_SPAN = 20.0
# Space beyond the data at each end of an axis, as a share of the axis.
_MARGIN = 0.04


@dataclass(frozen=True)
class Compared:
    """Measured and predicted values of a metric, shape (n,), and the mean relative error."""

    target: str
    observed: Sequence[float]
    predicted: Sequence[float]
    mre: float


@dataclass(frozen=True)
class Curve:
    """Predictions of a metric at each x, with intervals; all of shape (n,), x increasing."""

    target: str
    x_label: str
    x: Sequence[float]
    value: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]


def measured_against_predicted(
    targets: Sequence[Compared], *, title: str, subtitle: str
) -> PanelChart:
    """Describe predicted values (y) against measured values (x), with the line y = x.

    There is one panel for each metric.
    """
    panels = [_compared(compared) for compared in targets]
    return panels_apart(title, subtitle, panels, columns_of(len(panels)))


def curves_with_intervals(
    curves: Sequence[Curve], *, title: str, subtitle: str, level: float
) -> PanelChart:
    """Describe predictions with their intervals over a varied parameter, one panel per curve.

    Panels of one metric have the same y limits, so that small effects look small.

    Raises:
        WriteampError: no curve has a point.
    """
    curves = [curve for curve in curves if len(curve.x)]
    if not curves:
        raise WriteampError("no row has a prediction to draw; WA needs rows with writes")
    label = f"prediction, with the interval that holds {level:.0%} of unseen workloads"
    ends = {
        target: _ends([curve for curve in curves if curve.target == target]) for target in LABELS
    }
    panels = [_curve(curve, label, ends[curve.target]) for curve in curves]
    return panels_apart(title, subtitle, panels, columns_of(len(panels)))


def importances(
    names: Sequence[str], shares: Sequence[float], *, target: str, title: str, subtitle: str
) -> BarChart:
    """Describe the importance of features as bars, most important first."""
    order = sorted(range(len(names)), key=lambda place: -shares[place])
    return bars_of(
        {names[place]: shares[place] for place in order},
        [f"{shares[place]:.1%}" for place in order],
        label="share of the explained variation",
        color=_COLORS[target],
        title=title,
        subtitle=subtitle,
    )


def errors_by_target(errors: Mapping[str, float], *, subtitle: str) -> BarChart:
    """Describe the expected mean relative error of each metric as a bar."""
    return bars_of(
        errors,
        [f"{error:.2%}" for error in errors.values()],
        label="mean relative error on rows outside the training set",
        title="Errors of predictions",
        subtitle=subtitle,
    )


def measures_of_score(measures: Mapping[str, float], target: str, *, subtitle: str) -> BarChart:
    """Describe measures of accuracy as bars; NaN is left out, and values below 0 show as 0."""
    finite = {name: value for name, value in measures.items() if not math.isnan(value)}
    return bars_of(
        {name: max(value, 0.0) for name, value in finite.items()},
        [f"{value:.4f}" for value in finite.values()],
        label="ratio",
        color=_COLORS.get(target, series_color(0)),
        title=f"Accuracy of predictions of {target}",
        subtitle=subtitle,
    )


def points_by_outcome(points: Mapping[str, int], *, subtitle: str) -> BarChart:
    """Describe the number of a design's measuring points by outcome as bars."""
    return bars_of(
        points,
        [f"{count:,}" for count in points.values()],
        label="points",
        title="Points by outcome",
        subtitle=subtitle,
    )


def headroom_by_model(
    names: Sequence[str], headroom: Sequence[float], sure: Sequence[float]
) -> BarChart:
    """Describe the headroom of n drive models: the ratio of prediction to the tightest bound.

    Args:
        names: names of the drive models.
        headroom: headroom of the predictions; an infinite headroom has no bar.
        sure: headroom of the unfavourable ends of the prediction intervals.
    """
    shown = [
        (value, low) if math.isfinite(value) else (0.0, math.nan)
        for value, low in zip(headroom, sure, strict=True)
    ]
    return BarChart(
        title="Drives that meet the bounds",
        subtitle="at 1 or more, the prediction meets all bounds; each line ends at the worst case",
        x_label="headroom: ratio to the tightest bound",
        bars=tuple(names),
        layers=(Layer("headroom", series_color(0), tuple(value for value, _ in shown)),),
        low=tuple(low for _, low in shown),
        high=tuple(value for value, _ in shown),
        texts=tuple(f"× {value:.3g}" for value in headroom),
        levels=(Mark(1.0, INK, "dash", "bound"),),
    )


def _in_ms(target: str, *series: Sequence[float]) -> tuple[str, list[list[float]]]:
    """Return the axis label of a metric and its values, with latencies of 1 ms or more in ms."""
    longest = max((value for values in series for value in values), default=0.0)
    if target != "latency" or longest < 1e3:
        return LABELS[target], [list(values) for values in series]
    return "latency (ms)", [[us / 1e3 for us in values] for values in series]


def _compared(compared: Compared) -> Panel:
    name, (observed, predicted) = _in_ms(compared.target, compared.observed, compared.predicted)
    ends = [min(*observed, *predicted), max(*observed, *predicted)]
    is_log = _is_wide(ends)
    color = _COLORS[compared.target]
    points = Line(observed, predicted, color, 0.0, opacity=_DOT_OPACITY, marker="circle")
    return Panel(
        f"{compared.target}: mean relative error {compared.mre:.1%}",
        (Line(ends, ends, INK, 1.0, dash="dash", label="predicted as measured"), points),
        x_label=f"measured {name}",
        y_label=f"predicted {name}",
        x_log=is_log,
        y_log=is_log,
        from_zero=False,
    )


def _curve(curve: Curve, label: str, ends: tuple[float, float]) -> Panel:
    color = _COLORS[curve.target]
    name, (ends_shown, value, low, high) = _in_ms(
        curve.target, ends, curve.value, curve.low, curve.high
    )
    is_log = _is_wide(ends_shown)
    # A line and a band of a single point would be invisible, so the point gets a marker.
    marker: Marker | None = "circle" if len(curve.x) == 1 else None
    interval = [Line([*curve.x] * 2, [*low, *high], color, marker="tick")]
    return Panel(
        "",
        (
            Line(curve.x, value, color, label=label, marker=marker),
            *(interval if marker else ()),
        ),
        x_label=curve.x_label,
        y_label=name,
        x_log=_is_wide(curve.x),
        y_log=is_log,
        areas=(Area(curve.x, low, high, color),),
        from_zero=False,
        y_ends=_with_margin((ends_shown[0], ends_shown[1]), is_log=is_log),
    )


def _ends(curves: Sequence[Curve]) -> tuple[float, float]:
    """Return the lowest and highest value of curves, or (0, 1) without curves."""
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
