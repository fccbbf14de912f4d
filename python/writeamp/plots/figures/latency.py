"""Figure of a run in virtual time: latencies, bandwidth, WA, and the write cliff.

Axes are in MB/s (10⁶ bytes per second), and in ms if a latency is 1 ms or more, else in µs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from writeamp.errors import WriteampError
from writeamp.plots.figures.points import WHOLE_COLLECTIONS
from writeamp.plots.spec import Line, Panel, PanelChart
from writeamp.plots.style import WA_UNIT, panels_apart, series_color

_TIME_LABEL, _BANDWIDTH_UNIT = "virtual time (s)", "MB/s"
# Maximum number of points of a line; more points would be indistinguishable.
_MOST_POINTS = 2000


@dataclass(frozen=True)
class DirectionSeries:
    """Latencies and bandwidth of one direction, reads or writes.

    Attributes:
        label: name of the direction.
        upper_us: upper latency bound of each histogram bin, in µs, shape (bins,).
        counts: requests in each bin, shape (bins,).
        time_s: end of each span of virtual time, in seconds, increasing, shape (spans,).
        mb_s: bandwidth in each span, in MB/s, shape (spans,).
        mean_us: mean latency in each span, in µs, shape (spans,); NaN without requests.
    """

    label: str
    upper_us: npt.ArrayLike
    counts: npt.ArrayLike
    time_s: npt.ArrayLike
    mb_s: npt.ArrayLike
    mean_us: npt.ArrayLike


def latency_panels(
    directions: Sequence[DirectionSeries],
    *,
    title: str,
    subtitle: str,
    wa_time_s: npt.ArrayLike = (),
    wa: npt.ArrayLike = (),
    more: Sequence[Panel] = (),
) -> PanelChart:
    """Describe the distribution of latencies, and bandwidth, latency and WA over virtual time.

    Args:
        directions: reads, writes, or both.
        title: of the figure.
        subtitle: the run: device, seed.
        wa_time_s: end of each interval of `wa`, shape (n,); if empty, the panel of WA is left out.
        wa: write amplification of each interval, shape (n,).
        more: further panels, added at the end.

    Raises:
        WriteampError: `directions` is empty.
    """
    if not directions:
        raise WriteampError("a figure of latencies needs at least one finished request")
    unit, us = _unit(directions)
    colors = [series_color(index) for index in range(len(directions))]
    pairs = list(zip(directions, colors, strict=True))
    panels = [
        Panel(
            "Latency",
            tuple(_exceedance(direction, color, us) for direction, color in pairs),
            x_label=f"latency ({unit})",
            y_label="share of requests with a longer latency",
            x_log=True,
            y_log=True,
        ),
        _over_time(
            "Bandwidth",
            _BANDWIDTH_UNIT,
            [(direction, color, direction.mb_s) for direction, color in pairs],
        ),
        _over_time(
            "Mean latency",
            unit,
            [(direction, color, np.asarray(direction.mean_us) / us) for direction, color in pairs],
            is_log=True,
        ),
    ]
    times, values = np.asarray(wa_time_s, np.float64), np.asarray(wa, np.float64)
    if times.size:
        line = _steps(times, values, series_color(2))
        panels.append(
            Panel(
                "Write amplification",
                (line,),
                x_label=_TIME_LABEL,
                y_label=WA_UNIT.replace(" per ", "\nper "),
            )
        )
        subtitle = " · ".join(filter(None, (subtitle, WHOLE_COLLECTIONS)))
    return panels_apart(title, subtitle, (*panels, *more), columns=2)


def _unit(directions: Sequence[DirectionSeries]) -> tuple[str, float]:
    """Return the unit of latencies, ms if any is at least that long, and its length in µs."""
    longest = max(float(np.max(direction.upper_us, initial=0.0)) for direction in directions)
    return ("ms", 1e3) if longest >= 1e3 else ("µs", 1.0)


def _exceedance(direction: DirectionSeries, color: str, us: float) -> Line:
    """Return the share of requests above each latency as steps, for a logarithmic axis."""
    upper = np.asarray(direction.upper_us, np.float64) / us
    counts = np.asarray(direction.counts, np.float64)
    above = 1 - np.cumsum(counts) / counts.sum()
    # The last step ends at half a request, because 0 has no place on the axis.
    floor = 0.5 / counts.sum()
    above_previous = np.concatenate(([1.0], above[:-1]))
    x = np.repeat(upper, 2)
    y = np.maximum(np.column_stack((above_previous, above)).ravel(), floor)
    shown = np.linspace(0, x.size - 1, min(x.size, _MOST_POINTS)).astype(int)
    return Line(x[shown].tolist(), y[shown].tolist(), color, label=direction.label)


def _over_time(
    title: str,
    unit: str,
    lines: Sequence[tuple[DirectionSeries, str, npt.ArrayLike]],
    *,
    is_log: bool = False,
) -> Panel:
    drawn = tuple(
        _steps(direction.time_s, values, color, direction.label)
        for direction, color, values in lines
    )
    return Panel(title, drawn, x_label=_TIME_LABEL, y_label=unit, y_log=is_log)


def _steps(
    ends: npt.ArrayLike, values: npt.ArrayLike, color: str, label: str | None = None
) -> Line:
    """Return a step line with the value of each span, from the end of the span before."""
    x = np.repeat(np.asarray(ends, np.float64), 2)
    starts = np.concatenate(([0.0], x[:-1]))
    return Line(
        starts.tolist(),
        np.repeat(np.asarray(values, np.float64), 2).tolist(),
        color,
        1.3,
        label=label,
    )


# Minimum ratio of neighbouring x values on the logarithmic axis; closer points are left out.
_LEAST_STEP = 1.02


def cliff_points(
    time_s: npt.ArrayLike, written_bytes: npt.ArrayLike, *, pause_s: float
) -> tuple[list[float], list[float]]:
    """Return gigabytes written since an idle pause, and the write bandwidth there in MB/s.

    NaN separates the points of two pauses. Both lists are empty if the host did not write.

    Args:
        time_s: times in seconds, increasing, shape (n,).
        written_bytes: bytes written until each time, increasing, shape (n,).
        pause_s: gap between two times that counts as an idle pause, after which bytes are counted
            from 0; infinity for no pauses.
    """
    times = np.asarray(time_s, np.float64)
    written = np.asarray(written_bytes, np.float64)
    x: list[float] = []
    y: list[float] = []
    begin = last = 0
    for at in range(1, times.size):
        if times[at] - times[at - 1] >= pause_s:
            begin = last = at
            if x:
                x.append(np.nan)
                y.append(np.nan)
            continue
        since_idle = written[at] - written[begin]
        if since_idle >= _LEAST_STEP * (written[last] - written[begin]) and times[at] > times[last]:
            x.append(since_idle / 1e9)
            y.append((written[at] - written[last]) / (times[at] - times[last]) / 1e6)
            last = at
    return (x, y) if np.nansum(y) else ([], [])


def cliff_panel(x: Sequence[float], y: Sequence[float]) -> Panel:
    """Describe write bandwidth over the bytes written since an idle pause, by `cliff_points`."""
    return Panel(
        "Write cliff",
        (Line(x, y, series_color(1), 1.3),),
        x_label="written since the last idle pause (GB)",
        y_label=_BANDWIDTH_UNIT,
        x_log=True,
    )
