"""Figures of a host's requests: bandwidth over time, and distribution of writes over pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from writeamp.plots.spec import Line, LineChart
from writeamp.plots.style import MUTED, series_color


def rates_over_time(
    end_s: Sequence[float], rates_mb_s: Mapping[str, Sequence[float]], *, title: str, subtitle: str
) -> LineChart:
    """Describe the bandwidth of a trace over time, by direction.

    Args:
        end_s: end of each time interval in seconds, shape (n,).
        rates_mb_s: n rates in 10⁶ bytes per second, by direction.
        title: of the figure.
        subtitle: totals of the trace.
    """
    return LineChart(
        title=title,
        subtitle=subtitle,
        x_label="time (s)",
        y_label="MB/s",
        lines=tuple(
            Line(end_s, rates, series_color(i), label=name)
            for i, (name, rates) in enumerate(rates_mb_s.items())
        ),
    )


def writes_by_heat(
    pages: Sequence[float], writes: Sequence[float], *, title: str, subtitle: str
) -> LineChart:
    """Describe the share of the writes over the share of the pages as a Lorenz curve.

    Args:
        pages: cumulative shares of the written pages, most written first.
        writes: cumulative share of the writes to these pages.
        title: of the figure.
        subtitle: totals of the trace.
    """
    return LineChart(
        title=title,
        subtitle=subtitle,
        x_label="share of the written pages, the most written first",
        y_label="share of the page writes",
        lines=(
            Line((0, 1), (0, 1), MUTED, dash="dash", label="uniform writes"),
            Line(pages, writes, series_color(0), label="this trace"),
        ),
    )
