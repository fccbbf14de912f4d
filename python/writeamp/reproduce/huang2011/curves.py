"""Figures 3 to 7: one characteristic at a time on a disk and two flash drives (section III)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from writeamp.blackbox.space import KIB, WorkloadPoint
from writeamp.plots import FigureSpec
from writeamp.plots.spec import Line, Marker, Panel, PanelChart
from writeamp.plots.style import series_color
from writeamp.reproduce.bench import Bench, Findings
from writeamp.reproduce.huang2011.forms import form_of
from writeamp.reproduce.huang2011.measuring import METRICS, kept_in, measured
from writeamp.reproduce.huang2011.workloads import one_direction

_DEVICES = ("SSD_I", "SSD_S", "HDD_S")
_MARKERS: tuple[Marker, ...] = ("circle", "square", "diamond")

# Section III.A: the values of what does not change.
_SIZE_BYTES = 256 * KIB
_SIZES_KIB = (1, 4, 16, 64, 256)
_DEPTHS = (1, 4, 16, 64)
_RATIOS = (0.0, 0.25, 0.5, 0.75, 1.0)
_STRIDE_BYTES = 64 * KIB
# Randomness and stride of each access pattern (section III.B).
_PATTERNS = {"random": (1.0, 0), "sequential": (0.0, 0), "stride of 64 KiB": (0.0, _STRIDE_BYTES)}
_DIRECTIONS = {"read": False, "write": True}


@dataclass(frozen=True)
class _Curve:
    """Workloads along one characteristic."""

    x: Sequence[float]
    points: Sequence[WorkloadPoint]


def run(bench: Bench) -> Findings:
    """Measure and draw the curves if figures are wanted; they have no values in print."""
    if not bench.figures:
        return Findings()
    form = form_of(full=bench.full)
    curves = _curves()
    found: dict[str, dict[str, pl.DataFrame]] = {}
    with kept_in(bench) as folder:
        for device in _DEVICES:
            bench.step(f"one characteristic at a time on {device} (Figs. 3 to 7)")
            every = [point for curve in curves.values() for point in curve.points]
            rows = measured(bench, folder, device, every, form.settings)
            found[device] = {}
            for name, curve in curves.items():
                found[device][name], rows = (
                    rows.head(len(curve.points)),
                    rows.slice(len(curve.points)),
                )
    return Findings(figures=_figures(curves, found))


def _curves() -> dict[str, _Curve]:
    found = {
        "ratio": _Curve(
            _RATIOS,
            [WorkloadPoint(ratio, 1, _SIZE_BYTES, _SIZE_BYTES, 1.0, 1.0) for ratio in _RATIOS],
        )
    }
    for direction, is_write in _DIRECTIONS.items():
        found[f"depth, {direction}"] = _Curve(
            _DEPTHS,
            [one_direction(_SIZE_BYTES, 1.0, 0, is_write=is_write, depth=one) for one in _DEPTHS],
        )
        for pattern, (randomness, stride) in _PATTERNS.items():
            points = [
                one_direction(kib * KIB, randomness, stride, is_write=is_write)
                for kib in _SIZES_KIB
            ]
            found[f"{pattern}, {direction}"] = _Curve(_SIZES_KIB, points)
    return found


_Found = Mapping[str, Mapping[str, pl.DataFrame]]


def _figures(curves: Mapping[str, _Curve], found: _Found) -> dict[str, FigureSpec]:
    depths, sizes = ("depth, read", "depth, write"), ("random, read", "random, write")
    return {
        "fig3-write-ratio": _chart(
            "Impact of the write ratio",
            "Fig. 3 · simulated devices, random requests of 256 KiB, one outstanding",
            _by_device(("ratio",), "share of writes", curves, found),
        ),
        "fig4-queue-depth": _chart(
            "Impact of the queue depth",
            "Fig. 4 · simulated devices, random requests of 256 KiB",
            _by_device(depths, "queue depth", curves, found),
        ),
        "fig5-request-size": _chart(
            "Impact of the request size",
            "Fig. 5 · simulated devices, random requests, one outstanding",
            _by_device(sizes, _SIZE_LABEL, curves, found),
        ),
        "fig6-7-access-patterns": _chart(
            "Impact of access patterns",
            "Figs. 6 and 7 · simulated devices, one request outstanding; some lines coincide",
            _by_pattern(curves, found),
        ),
    }


_SIZE_LABEL = "size of a request (KiB)"


def _by_device(
    names: Sequence[str], x_label: str, curves: Mapping[str, _Curve], found: _Found
) -> list[Panel]:
    """Describe a row of panels for each curve, one a metric, with a line for each device."""
    panels = []
    for name in names:
        kind = f", {name.rpartition(', ')[2]}s" if ", " in name else ""
        for metric, (column, unit, many) in METRICS.items():
            lines = [
                Line(
                    curves[name].x,
                    (found[device][name][column] / many).to_list(),
                    series_color(index),
                    label=device,
                    marker=_MARKERS[index],
                )
                for index, device in enumerate(_DEVICES)
            ]
            panels.append(
                Panel(
                    f"{metric}{kind}",
                    tuple(lines),
                    x_label=x_label,
                    y_label=f"{metric} ({unit})",
                    x_log=name != "ratio",
                    y_log=True,
                )
            )
    return panels


def _by_pattern(curves: Mapping[str, _Curve], found: _Found) -> list[Panel]:
    """Describe latency and throughput of each device, with a line for each pattern."""
    panels = []
    for metric in ("latency", "throughput"):
        column, unit, many = METRICS[metric]
        for device in _DEVICES:
            lines = []
            for direction in _DIRECTIONS:
                for index, pattern in enumerate(_PATTERNS):
                    name = f"{pattern}, {direction}"
                    lines.append(
                        Line(
                            curves[name].x,
                            (found[device][name][column] / many).to_list(),
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
                    y_label=f"{metric} ({unit})",
                    x_log=True,
                    y_log=True,
                )
            )
    return panels


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
