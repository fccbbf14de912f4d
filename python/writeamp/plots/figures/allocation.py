"""Figures of the division of over-provisioned space between page groups, and of WA."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from writeamp.errors import WriteampError
from writeamp.plots.spec import BarChart, Layer, Line, Marker, Panel, PanelChart
from writeamp.plots.style import series_color

OVER_OPTIMAL_AXIS = "excess of WA above the optimum (%)"
_MARKERS: tuple[Marker, ...] = ("square", "triangle", "circle", "diamond")


def op_shares_by_method(
    groups: Sequence[tuple[float, float]],
    divisions: Mapping[str, tuple[Sequence[float], float]],
    *,
    subtitle: str,
) -> BarChart:
    """Describe each method's division of spare space as a bar, with a layer for each page group.

    Args:
        groups: share of the pages and share of the writes of each of n groups.
        divisions: the n shares of the space and the WA of all writes, by name of the method.
        subtitle: the drive.

    Raises:
        WriteampError: `divisions` is empty.
    """
    if not divisions:
        raise WriteampError("a figure of divided space needs at least one division")
    rows = [shares for shares, _ in divisions.values()]
    return BarChart(
        title="Over-provisioned space by group",
        subtitle=f"{subtitle} · group: share of the pages / of the writes",
        x_label="share of the over-provisioned space T-U (T physical, U logical pages)",
        bars=tuple(divisions),
        layers=tuple(
            Layer(
                f"group {i + 1}: {size:.3g} / {frequency:.3g}",
                series_color(i),
                tuple(row[i] for row in rows),
            )
            for i, (size, frequency) in enumerate(groups)
        ),
        texts=tuple(f"WA {wa:.4f}" for _, wa in divisions.values()),
    )


def over_optimal(
    x: Sequence[float],
    curves: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    *,
    title: str,
    subtitle: str,
    x_label: str,
) -> PanelChart:
    """Describe by how many percent WA of the closed form exceeds the optimum, over a parameter.

    Args:
        x: values of a parameter of the workloads, shape (n,).
        curves: mean and maximum at each x, in percent, by name.
        title: of the figure.
        subtitle: the drive.
        x_label: name of the parameter.
    """
    lines = []
    for index, (name, (means, maxima)) in enumerate(curves.items()):
        color = series_color(index)
        lines.append(Line(x, maxima, color, dash="dash", label=f"{name}, maximum", marker="square"))
        lines.append(Line(x, means, color, label=f"{name}, mean", marker="circle"))
    return PanelChart(
        title=title,
        subtitle=subtitle,
        x_label=x_label,
        y_label=OVER_OPTIMAL_AXIS,
        panels=(Panel("", tuple(lines)),),
        columns=1,
        x_ticks=tuple(x),
    )


def wa_over_division(
    curves: Mapping[str, tuple[np.ndarray, np.ndarray]],
    points: Mapping[str, Sequence[tuple[float, float]]],
    *,
    subtitle: str,
) -> PanelChart:
    """Describe WA over the share of the over-provisioned space that the first of two groups has.

    Args:
        curves: shares and WA of each line, by name of the workload.
        points: share and WA of each workload, by name of the method.
        subtitle: the drive.
    """
    lines = [
        Line(shares.tolist(), wa.tolist(), series_color(index), label=name)
        for index, (name, (shares, wa)) in enumerate(curves.items())
    ]
    for index, (name, places) in enumerate(points.items()):
        x, y = zip(*places, strict=True)
        color = series_color(len(curves) + index)
        lines.append(Line(x, y, color, 0.0, label=name, marker=_MARKERS[index % len(_MARKERS)]))
    return PanelChart(
        title="Write amplification over the division between two groups",
        subtitle=subtitle,
        x_label="share of the over-provisioned space that group 1 gets",
        y_label="write amplification",
        panels=(Panel("", tuple(lines)),),
        columns=1,
    )
