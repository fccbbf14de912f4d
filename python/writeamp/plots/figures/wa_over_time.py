"""Figure of write amplification over the time of a run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from writeamp.errors import WriteampError
from writeamp.plots.spec import Band, Line, LineChart, Mark, Strip
from writeamp.plots.style import (
    DRIVE_WRITES_LABEL,
    INK,
    MUTED,
    WA_LABEL,
    WA_UNIT,
    series_color,
    series_dash,
    theory_marks,
    with_error,
    with_legend_of_error,
)


@dataclass(frozen=True)
class WaSeries:
    """Write amplification of one run by interval.

    Attributes:
        label: name of the run.
        drive_writes: end of each interval, in host pages written since the start of the run divided
            by logical pages, increasing, shape (n,).
        wa: flash pages programmed per host page written in each interval, shape (n,).
        warmup_drive_writes: end of the warm-up, which `steady_wa` excludes.
        steady_wa: mean after the warm-up, or NaN.
        ci_low, ci_high: 95% interval of `steady_wa`, or NaN.
    """

    label: str
    drive_writes: npt.ArrayLike
    wa: npt.ArrayLike
    warmup_drive_writes: float = 0.0
    steady_wa: float = math.nan
    ci_low: float = math.nan
    ci_high: float = math.nan


def wa_over_time(
    series: Sequence[WaSeries],
    theory: Sequence[tuple[str, float]] = (),
    *,
    title: str,
    subtitle: str,
    changes: Sequence[float] = (),
    passes: Sequence[tuple[float, float]] = (),
    strips: tuple[Strip, ...] = (),
) -> LineChart:
    """Describe write amplification over drive writes, with warm-up, steady means and theory.

    Args:
        series: one or more runs; the warm-up is drawn faded.
        theory: names and values of predictions, drawn as dashed levels.
        title: of the figure.
        subtitle: the run: op (by that name), device, seed.
        changes: times of abrupt changes of the workload, in drive writes.
        passes: end of each pass over a looped trace, in drive writes, and WA of the pass.
        strips: charts below, on the same x axis.

    Returns:
        A specification, which `save` draws.

    Raises:
        WriteampError: no series, an empty series, or arrays of different lengths.
    """
    if not series:
        raise WriteampError("a figure of write amplification over time needs at least one series")
    lines: list[Line] = []
    bands: list[Band] = []
    instants: list[Mark] = []
    for index, run in enumerate(series):
        ends, wa = _checked(run)
        color, last = series_color(index), float(ends[-1])
        lines += _run(run, ends, wa, index)
        if not math.isnan(run.steady_wa):
            span = (run.warmup_drive_writes, last)
            lines.append(Line(span, (run.steady_wa,) * 2, color, 2.0, 1.0, series_dash(index)))
        if not math.isnan(run.ci_low):
            bands.append(Band(run.warmup_drive_writes, last, run.ci_low, run.ci_high, color))
        if run.warmup_drive_writes > 0:
            instants.append(Mark(run.warmup_drive_writes, color, "dot"))
    if instants:
        # One legend entry for all series.
        lines.append(Line((), (), MUTED, 1.0, 1.0, "dot", "end of the warm-up (not counted)"))
    if len(passes) > 1:
        lines.append(_steps(passes))
    if changes:
        lines.append(Line((), (), INK, 1.0, 1.0, "dash", "change of the workload"))
        instants += [Mark(change, INK, "dash") for change in changes]
    return LineChart(
        title=title,
        subtitle=with_legend_of_error(subtitle, (line.label or "" for line in lines)),
        x_label=DRIVE_WRITES_LABEL,
        y_label=f"{WA_LABEL}\n({WA_UNIT})",
        lines=tuple(lines),
        bands=tuple(bands),
        levels=theory_marks(theory),
        instants=tuple(instants),
        strips=strips,
    )


def _steps(passes: Sequence[tuple[float, float]]) -> Line:
    """Return a step line with the WA of each pass."""
    starts = [0.0, *(end for end, _ in passes[:-1])]
    x = [at for start, (end, _) in zip(starts, passes, strict=True) for at in (start, end)]
    y = [wa for _, wa in passes for _ in (0, 1)]
    return Line(x, y, INK, 1.2, 0.8, "dashdot", "WA of each pass over the trace")


def _checked(series: WaSeries) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    ends, wa = np.asarray(series.drive_writes, np.float64), np.asarray(series.wa, np.float64)
    if ends.ndim != 1 or ends.shape != wa.shape or ends.size == 0:
        raise WriteampError(
            f"series {series.label!r} needs drive_writes and wa of one equal length above 0, "
            f"but they have the shapes {ends.shape} and {wa.shape}"
        )
    return ends, wa


def _run(
    series: WaSeries, ends: npt.NDArray[np.float64], wa: npt.NDArray[np.float64], index: int
) -> list[Line]:
    """Return the faded line of the warm-up, if any, and the line after it."""
    # The mean of an interval is drawn at its middle.
    middles = ends - np.diff(ends, prepend=0.0) / 2
    label = series.label
    if not math.isnan(series.steady_wa):
        label += f": {with_error(series.steady_wa, series.ci_low, series.ci_high)}"
    color, dash = series_color(index), series_dash(index)
    cut = int(np.searchsorted(middles, series.warmup_drive_writes))
    x, y = middles.tolist(), wa.tolist()
    lines = [Line(x[cut:], y[cut:], color, 1.3, 0.75, dash, label)]
    if cut > 0:
        # The two lines share a point, so that they join.
        lines.insert(0, Line(x[: cut + 1], y[: cut + 1], color, 1.3, 0.3, dash))
    return lines
