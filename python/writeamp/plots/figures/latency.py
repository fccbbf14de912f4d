"""Figure of a run in virtual time: latencies, events over time, and the write cliff."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from writeamp.errors import WriteampError
from writeamp.plots.spec import Line, Panel, PanelChart
from writeamp.plots.style import WA_UNIT, panels_apart, series_color

_TIME_LABEL = "virtual time (s)"
# More points than this cannot be told apart.
_MOST_POINTS = 2000


@dataclass(frozen=True)
class DirectionSeries:
    """The requests of one direction.

    `upper_us` and `counts` (shape (bins,)) are a histogram of latencies: so many requests took at
    most so long, and longer than the bin before. `time_s`, `mb_s` and `mean_us` (shape (spans,))
    are the end of each span of virtual time, what was moved in it, and the mean latency, NaN where
    nothing was answered.
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
        title: what is shown.
        subtitle: the run: device, seed.
        wa_time_s: where each interval of `wa` ends, shape (n,); without any there is no such panel.
        wa: write amplification of each interval, shape (n,).
        more: panels that come last.

    Raises:
        WriteampError: there is no direction.
    """
    if not directions:
        raise WriteampError("a figure of latencies needs at least one request that was answered")
    colors = [series_color(index) for index in range(len(directions))]
    pairs = list(zip(directions, colors, strict=True))
    panels = [
        Panel(
            "Latency",
            tuple(_exceedance(one, color) for one, color in pairs),
            x_label="latency (µs)",
            y_label="share of requests that took longer",
            x_log=True,
            y_log=True,
        ),
        _over_time(
            "Bandwidth", "10⁶ bytes a second", [(one, color, one.mb_s) for one, color in pairs]
        ),
        _over_time(
            "Mean latency", "µs", [(one, color, one.mean_us) for one, color in pairs], is_log=True
        ),
    ]
    times, values = np.asarray(wa_time_s, np.float64), np.asarray(wa, np.float64)
    if times.size:
        line = Line(times.tolist(), values.tolist(), series_color(2), 1.3)
        panels.append(
            Panel(
                "Write amplification",
                (line,),
                x_label=_TIME_LABEL,
                y_label=WA_UNIT.replace(" per ", "\nper "),
            )
        )
    return panels_apart(title, subtitle, (*panels, *more), columns=2)


def _exceedance(one: DirectionSeries, color: str) -> Line:
    """Return the share of requests that took longer than each latency, in steps, above none."""
    upper = np.asarray(one.upper_us, np.float64)
    counts = np.asarray(one.counts, np.float64)
    longer = 1 - np.cumsum(counts) / counts.sum()
    # Down to half a request: of the longest, the step ends there.
    floor = 0.5 / counts.sum()
    before = np.concatenate(([1.0], longer[:-1]))
    x = np.repeat(upper, 2)
    y = np.maximum(np.column_stack((before, longer)).ravel(), floor)
    kept = np.linspace(0, x.size - 1, min(x.size, _MOST_POINTS)).astype(int)
    return Line(x[kept].tolist(), y[kept].tolist(), color, label=one.label)


def _over_time(
    title: str,
    unit: str,
    lines: Sequence[tuple[DirectionSeries, str, npt.ArrayLike]],
    *,
    is_log: bool = False,
) -> Panel:
    drawn = tuple(
        Line(
            np.asarray(one.time_s).tolist(),
            np.asarray(values).tolist(),
            color,
            1.3,
            label=one.label,
        )
        for one, color, values in lines
    )
    return Panel(title, drawn, x_label=_TIME_LABEL, y_label=unit, y_log=is_log)


# On a logarithmic axis, points that are closer than this cannot be told apart.
_LEAST_STEP = 1.02


def cliff_panel(
    time_s: npt.ArrayLike, written_bytes: npt.ArrayLike, *, pause_s: float
) -> Panel | None:
    """Describe how the bandwidth of writes falls once a cache is full.

    Args:
        time_s: moments, rising, shape (n,).
        written_bytes: bytes written up to each, rising, shape (n,).
        pause_s: time between two moments that is a pause of the host, after which the bytes are
            counted anew; infinity for never.

    Returns:
        The panel; None if nothing was written.
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
    if not np.nansum(y):
        return None
    return Panel(
        "Write cliff",
        (Line(x, y, series_color(1), 1.3),),
        x_label="written since idle (10⁹ bytes)",
        y_label="10⁶ bytes a second",
        x_log=True,
    )
