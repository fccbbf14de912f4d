"""Figures 3 to 7 of paper 2."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from writeamp.plots import FigureSpec
from writeamp.plots.spec import Line, Marker, Panel, PanelChart
from writeamp.plots.style import series_color
from writeamp_papers.huang2011.device_scores import DeviceScores
from writeamp_papers.huang2011.readings import AGED
from writeamp_papers.huang2011.runs import METRICS, UNITS
from writeamp_papers.huang2011.workloads import ACCESS, DEPTHS, DIRECTIONS, RATIOS, SIZES_KIB

F64 = npt.NDArray[np.float64]


def nonlinearity(x: Sequence[float], y: Sequence[float]) -> float:
    """Return 1 - R² of the best straight line through the points: 0 if they are on a line."""
    slope, constant = np.polyfit(x, y, 1)
    left = np.asarray(y) - (slope * np.asarray(x) + constant)
    return float(left @ left / np.square(np.asarray(y) - np.mean(y)).sum())


def slope(x: Sequence[float], y: Sequence[float]) -> float:
    """Return the slope of the best straight line through the points."""
    return float(np.polyfit(x, y, 1)[0])


def largest_ratio(first: Sequence[float], other: Sequence[float]) -> float:
    """Return the largest ratio of `first` to `other` at the same x."""
    return max(a / b for a, b in zip(first, other, strict=True))


def smallest_ratio(first: Sequence[float], other: Sequence[float]) -> float:
    """Return the smallest ratio of `first` to `other` at the same x."""
    return min(a / b for a, b in zip(first, other, strict=True))


def mean_ratio(first: Sequence[float], other: Sequence[float]) -> float:
    """Return the geometric mean of the ratios of `first` to `other` at the same x."""
    return math.exp(float(np.mean([math.log(a / b) for a, b in zip(first, other, strict=True)])))


_MARKERS: tuple[Marker, ...] = ("circle", "square", "diamond")


def pictures(device_scores: Mapping[str, DeviceScores]) -> dict[str, FigureSpec]:
    """Describe the figures as measured under the default reading."""
    depths, sizes = ("depth, read", "depth, write"), ("random, read", "random, write")
    return {
        "fig3-write-ratio": _chart(
            "Impact of the write ratio",
            "Fig. 3 · simulated devices, random requests of 256 KiB, one outstanding",
            _by_device(("ratio",), "share of writes", device_scores),
        ),
        "fig4-queue-depth": _chart(
            "Impact of the queue depth",
            "Fig. 4 · simulated devices, random requests of 256 KiB",
            _by_device(depths, "queue depth", device_scores),
        ),
        "fig5-request-size": _chart(
            "Impact of the request size",
            "Fig. 5 · simulated devices, random requests, one outstanding",
            _by_device(sizes, _SIZE_LABEL, device_scores),
        ),
        "fig6-7-access-patterns": _chart(
            "Impact of access patterns",
            "Figs. 6 and 7 · simulated devices, one request outstanding; some lines coincide",
            _by_pattern(device_scores),
        ),
    }


_SIZE_LABEL = "size of a request (KiB)"


def _by_device(
    names: Sequence[str], x_label: str, device_scores: Mapping[str, DeviceScores]
) -> list[Panel]:
    """Describe each metric over the varied parameter, with a line per device."""
    panels = []
    for name in names:
        kind = f", {name.rpartition(', ')[2]}s" if ", " in name else ""
        for metric in METRICS:
            lines = [
                Line(
                    _x(name),
                    _values(device_scores[device], name, metric),
                    series_color(index),
                    label=device,
                    marker=_MARKERS[index],
                )
                for index, device in enumerate(device_scores)
            ]
            panels.append(
                Panel(
                    f"{metric}{kind}",
                    tuple(lines),
                    x_label=x_label,
                    y_label=f"{metric} ({UNITS[metric]})",
                    x_log=name != "ratio",
                    y_log=True,
                )
            )
    return panels


def _by_pattern(device_scores: Mapping[str, DeviceScores]) -> list[Panel]:
    """Describe latency and throughput over the request size, with a line per access pattern."""
    panels = []
    for metric in ("latency", "throughput"):
        for device in device_scores:
            lines = []
            for direction in DIRECTIONS:
                for index, pattern in enumerate(ACCESS):
                    name = f"{pattern}, {direction}"
                    lines.append(
                        Line(
                            _x(name),
                            _values(device_scores[device], name, metric),
                            series_color(index),
                            dash="solid" if direction == "write" else "dash",
                            label=name,
                            marker=_MARKERS[index],
                        )
                    )
            panels.append(
                Panel(
                    f"{device}, {metric}",
                    tuple(lines),
                    x_label=_SIZE_LABEL,
                    y_label=f"{metric} ({UNITS[metric]})",
                    x_log=True,
                    y_log=True,
                )
            )
    return panels


def _x(name: str) -> Sequence[float]:
    if name == "ratio":
        return RATIOS
    return DEPTHS if name.startswith("depth") else SIZES_KIB


def _values(scores: DeviceScores, name: str, metric: str) -> list[float]:
    return scores.curve(name, metric)[AGED.name]


def _chart(title: str, subtitle: str, panels: Sequence[Panel]) -> PanelChart:
    return PanelChart(
        title=title,
        subtitle=f"paper 2, {subtitle}",
        x_label="",
        y_label="",
        panels=tuple(panels),
        columns=3,
        own_axes=True,
    )
