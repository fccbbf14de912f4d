"""Figures of a host's traffic: bytes a second over time, and heat of the writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from writeamp.plots.spec import Line, LineChart
from writeamp.plots.style import MUTED, series_color


def rates_over_time(
    end_s: Sequence[float], rates_mb_s: Mapping[str, Sequence[float]], *, title: str, subtitle: str
) -> LineChart:
    """Describe how many bytes a second a trace moves.

    Args:
        end_s: when each of n spans of time ends.
        rates_mb_s: n rates in 10⁶ bytes a second for each direction.
        title: what is shown.
        subtitle: what it holds in all.
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
    """Describe how uneven writes are, beside those that go everywhere alike.

    Args:
        pages: shares of the written pages, the most written first.
        writes: the share of the writes that goes to each.
        title: what is shown.
        subtitle: how much is written.
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
