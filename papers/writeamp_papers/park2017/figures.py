"""Figures 1–4 of Park et al. 2017 with computed values, and two further figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from writeamp import models
from writeamp.devices.device import Device
from writeamp.plots.figures.wa_over_time import WaSeries, wa_over_time
from writeamp.plots.spec import (
    ColorScale,
    Dash,
    HeatMap,
    HeatMapChart,
    Line,
    LineChart,
    Mark,
    Marker,
    Panel,
    PanelChart,
)
from writeamp.plots.style import INK, SERIES_COLORS, WA_LABEL, WA_UNIT
from writeamp_papers.park2017.hot_file import Passes

_OP_LABEL = "over-provisioning ratio op = (T-U)/U"
_WA_AXIS = f"{WA_LABEL}\n({WA_UNIT})"
_HOT_LABEL = "size of the hot file (% of the file system)"
_COLORS = {
    "expected-value": SERIES_COLORS[0],
    "markov": SERIES_COLORS[1],
    "uniform-distribution": SERIES_COLORS[2],
    "coupon-collector": SERIES_COLORS[3],
}
# Colour and mark of each pattern of Fig. 4. Points at the same hot ratio are drawn side by side.
_PATTERN_STYLES: tuple[tuple[str, Marker, float], ...] = (
    (SERIES_COLORS[5], "circle", 0.0),
    (SERIES_COLORS[1], "square", 1.1),
    (SERIES_COLORS[2], "triangle", 2.2),
    (SERIES_COLORS[6], "diamond", -1.1),
)


def models_over_op(sweep: npt.NDArray[np.float64], window: int) -> PanelChart:
    """Describe Fig. 1: WA by each model over ρ (the op), for N = 64 and 128 pages per block."""
    return PanelChart(
        title="Four models of write amplification",
        subtitle="paper 1, Fig. 1 · uniform random writes, full drive",
        x_label=_OP_LABEL,
        y_label=_WA_AXIS,
        panels=tuple(_models_panel(sweep, pages, window) for pages in (64, 128)),
        columns=2,
        y_log=True,
    )


def _models_panel(sweep: npt.NDArray[np.float64], pages: int, window: int) -> Panel:
    curves = {
        "expected-value": models.expected_value(sweep),
        "markov": models.markov(sweep, pages),
        "uniform-distribution": models.uniform_distribution(sweep),
        "coupon-collector": models.coupon_collector(sweep, pages, window),
    }
    labels = {"coupon-collector": f"coupon-collector, s={window}"}
    return Panel(
        f"N = {pages} pages per block",
        tuple(
            Line(
                sweep.tolist(),
                np.atleast_1d(wa).tolist(),
                _COLORS[name],
                1.6,
                dash="dash" if name == "markov" else "solid",
                label=labels.get(name, name),
            )
            for name, wa in curves.items()
        ),
    )


def time(
    sizes: Sequence[int], seconds: Mapping[str, Sequence[float]], printed: Mapping[int, float]
) -> PanelChart:
    """Describe Fig. 2: computing time of each model in seconds over pages per block."""
    ours = [
        Line(sizes, taken, _COLORS[name], 1.5, label=f"{name}, here", marker="circle")
        for name, taken in seconds.items()
    ]
    theirs = Line(
        list(printed),
        list(printed.values()),
        _COLORS["coupon-collector"],
        1.2,
        dash="dot",
        label="coupon-collector, as printed",
        marker="cross",
    )
    return PanelChart(
        title="Time for 100 predictions",
        subtitle="paper 1, Fig. 2 · op = 0.01, 0.02, …, 1 · printed: MATLAB, Core i7-3820",
        x_label="pages per block N",
        y_label="seconds",
        panels=(Panel("", (*ours, theirs)),),
        columns=1,
        x_ticks=tuple(sizes),
        x_log=True,
        y_log=True,
    )


def windowed(simulated: Mapping[int, float]) -> PanelChart:
    """Describe WA of windowed greedy collection over the window s in blocks, beside its model."""
    windows = list(simulated)
    logical_blocks, op, pages = 2000, 0.28, 64
    predicted = models.coupon_collector(op, pages, windows, logical_blocks=logical_blocks)
    lines = (
        Line(windows, list(simulated.values()), INK, 1.5, label="simulated", marker="circle"),
        Line(
            windows,
            np.atleast_1d(predicted).tolist(),
            _COLORS["coupon-collector"],
            1.5,
            label="coupon-collector",
            marker="square",
        ),
    )
    levels = (
        _level("expected-value (FIFO)", float(models.expected_value(op)), "expected-value", "dash"),
        _level("markov (greedy)", float(models.markov(op, pages)), "markov", "dot"),
    )
    return PanelChart(
        title="Windowed greedy collection, simulated and modelled",
        subtitle=f"op = {op}, U = {logical_blocks} blocks of N = {pages} pages, uniform writes",
        x_label="window s (oldest blocks among which the emptiest is chosen)",
        y_label=_WA_AXIS,
        panels=(Panel("", lines, levels),),
        columns=1,
        x_ticks=tuple(windows),
        x_log=True,
    )


def passes(drive: Device, simulated: Passes, measured: float) -> PanelChart:
    """Describe Fig. 3: write amplification over the number of the pass over the hot file."""
    pages = drive.pages_per_block
    numbers = list(range(1, len(simulated.wa_of_pass) + 1))
    label = (
        f"simulated drive: mean {simulated.all:.3f} of all passes, {simulated.settled:.3f} without "
        "the first five"
    )
    levels = (
        Mark(measured, INK, "solid", f"real drive: {measured}"),
        _level("expected-value", float(models.expected_value(0.28)), "expected-value", "dash"),
        _level(f"markov, N={pages}", float(models.markov(0.28, pages)), "markov", "dot"),
        _level(
            "uniform-distribution",
            float(models.uniform_distribution(0.28)),
            "uniform-distribution",
            "dashdot",
        ),
    )
    line = Line(
        numbers, simulated.wa_of_pass.tolist(), SERIES_COLORS[5], 1.5, label=label, marker="circle"
    )
    return PanelChart(
        title="Fifteen passes over the hot file at op = 0.28",
        subtitle=f"paper 1, Fig. 3 · {_drive(drive)} · hot 112.9 GiB, cold 102.1 GiB",
        x_label="number of the pass over the hot file",
        y_label=_WA_AXIS,
        panels=(Panel("", (line,), levels),),
        columns=1,
        x_ticks=tuple(numbers),
    )


def grid(
    drive: Device,
    labels: Mapping[str, str],
    simulated: Mapping[tuple[str, float, float], Passes],
    measured: Mapping[tuple[float, float], float],
) -> PanelChart:
    """Describe Fig. 4: WA over the hot ratio, simulated, measured and predicted.

    The prediction is expected-value at the effective op. Keys of the results are pattern,
    utilization and hot ratio; `labels` names the patterns.
    """
    hot = sorted({h for _, _, h in simulated})
    panels = []
    for utilization in sorted({u for _, u, _ in simulated}):
        panels.append(
            Panel(
                f"{utilization:.0%} utilization",
                (
                    _predicted(drive, utilization, hot),
                    *_simulated(labels, utilization, hot, simulated),
                    *_measured(utilization, measured),
                ),
            )
        )
    return PanelChart(
        title="Write amplification by utilization and hot file",
        subtitle=f"paper 1, Fig. 4 and Table 6 · {_drive(drive)}, op = 0.147 · simulated: "
        "mean of fifteen passes",
        x_label=_HOT_LABEL,
        y_label=_WA_AXIS,
        panels=tuple(panels),
        columns=2,
        x_ticks=tuple(100 * h for h in hot),
    )


def _predicted(drive: Device, utilization: float, hot: Sequence[float]) -> Line:
    x = np.linspace(min(hot), max(hot), 61)
    y = models.expected_value(models.effective_op(drive.op, utilization, x))
    return Line(
        (100 * x).tolist(),
        np.atleast_1d(y).tolist(),
        _COLORS["expected-value"],
        1.6,
        label="expected-value with effective op",
    )


def _simulated(
    labels: Mapping[str, str],
    utilization: float,
    hot: Sequence[float],
    simulated: Mapping[tuple[str, float, float], Passes],
) -> list[Line]:
    return [
        Line(
            [100 * h + aside for h in hot],
            [simulated[pattern, utilization, h].all for h in hot],
            color,
            0.0,
            label=f"simulated: {label}",
            marker=marker,
        )
        for (pattern, label), (color, marker, aside) in zip(
            labels.items(), _PATTERN_STYLES, strict=True
        )
    ]


def _measured(utilization: float, measured: Mapping[tuple[float, float], float]) -> list[Line]:
    points = [(100 * h, wa) for (u, h), wa in measured.items() if u == utilization]
    if not points:
        return []
    x, y = zip(*points, strict=True)
    return [Line(x, y, INK, 0.0, label="real drive: uniform", marker="ring")]


def benchmarks(
    drive: Device, wa_by_benchmark: Mapping[str, Mapping[float, float]], printed_most: float
) -> PanelChart:
    """Describe Fig. 5: WA of each benchmark over the utilization of the file system."""
    lines = [
        Line(
            [100 * utilization for utilization in by],
            list(by.values()),
            color,
            1.5,
            label=name,
            marker=marker,
        )
        for (name, by), (color, marker, _) in zip(
            wa_by_benchmark.items(), _PATTERN_STYLES, strict=False
        )
    ]
    utilizations = sorted({utilization for by in wa_by_benchmark.values() for utilization in by})
    return PanelChart(
        title="Write amplification of file-system benchmarks",
        subtitle=f"paper 1, Fig. 5 · ext4 on the virtual drive: {_drive(drive)}, op = 0.147",
        x_label="utilization of the file system (%)",
        y_label=_WA_AXIS,
        panels=(
            Panel("", tuple(lines), (Mark(printed_most, INK, "dash", f"print: ≤ {printed_most}"),)),
        ),
        columns=1,
        x_ticks=tuple(100 * utilization for utilization in utilizations),
    )


def errors(
    drive: Device,
    patterns: Mapping[str, str],
    simulated: Mapping[tuple[float, str, float, float], float],
) -> HeatMapChart:
    """Describe the relative error of expected-value at the effective op as heat maps.

    Keys of the results are the cold file's share of the writes, the pattern within the hot file,
    utilization and hot ratio; values are simulated WA. `patterns` names the patterns.
    """
    cold_shares = sorted({c for c, _, _, _ in simulated})
    utilizations = sorted({u for _, _, u, _ in simulated}, reverse=True)
    hot = sorted({h for _, _, _, h in simulated})

    def error(cold: float, pattern: str, utilization: float, written_fraction: float) -> float:
        predicted = models.expected_value(
            models.effective_op(drive.op, utilization, written_fraction)
        )
        return 100 * (
            float(predicted) / simulated[cold, pattern, utilization, written_fraction] - 1
        )

    maps = tuple(
        HeatMap(
            f"{label}, {cold:.0%} of writes to cold",
            tuple(tuple(error(cold, pattern, u, h) for h in hot) for u in utilizations),
        )
        for cold in cold_shares
        for pattern, label in patterns.items()
    )
    return HeatMapChart(
        title="Where the effective op fails",
        subtitle="error of expected-value with effective op, in % of simulated steady-state WA · "
        f"{_drive(drive)}, op = 0.147",
        x_label=_HOT_LABEL,
        y_label="utilization (%)",
        x_ticks=tuple(f"{100 * h:.0f}" for h in hot),
        y_ticks=tuple(f"{100 * u:.0f}" for u in utilizations),
        color_label="(predicted − simulated) / simulated (%)",
        maps=maps,
        columns=len(patterns),
        scale=ColorScale(-80.0, 80.0, diverges=True),
        cell_format="{:+z.0f}",
    )


def over_time(
    drive: Device,
    utilization: float,
    written_fraction: float,
    series: Mapping[float, tuple[npt.ArrayLike, npt.ArrayLike]],
) -> LineChart:
    """Describe WA over drive writes if the cold file gets a share of the writes.

    `series` has drive writes and WA of each interval, by the cold file's share.
    """
    predicted = models.expected_value(models.effective_op(drive.op, utilization, written_fraction))
    return wa_over_time(
        [
            WaSeries(f"{100 * share:g}% of the writes to cold data", ends, wa)
            for share, (ends, wa) in series.items()
        ],
        [("expected-value with effective op", float(predicted))],
        title="Cold data with some writes",
        subtitle=f"utilization {utilization:.0%}, hot file {written_fraction:.0%}, "
        "uniform within each · "
        f"{_drive(drive)}, op = 0.147",
    )


def _level(label: str, value: float, model: str, dash: Dash) -> Mark:
    return Mark(value, _COLORS[model], dash, f"{label}: {value:.3f}")


def _drive(drive: Device) -> str:
    return f"{drive.geometry.blocks} superblocks of N = {drive.pages_per_block:,} pages"
