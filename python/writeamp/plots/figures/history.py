"""Figure of drives' histories: write amplification and the host's volume over days."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from writeamp.plots.spec import Line, Panel, PanelChart
from writeamp.plots.style import series_color

# More lines than this cannot be told apart.
_MOST_DRIVES = 8


class DriveSeries(NamedTuple):
    """A drive over days since it was first read: WA, and gigabytes of the host a day."""

    name: str
    days: list[float]
    wa: list[float]
    daily_gb: list[float]


def wa_over_days(drives: Sequence[DriveSeries]) -> PanelChart:
    """Describe WA above the host's volume, a line a drive; the first eight are shown."""
    shown = drives[:_MOST_DRIVES]
    wa = [Line(one.days, one.wa, series_color(at), label=one.name) for at, one in enumerate(shown)]
    daily = [Line(one.days, one.daily_gb, series_color(at)) for at, one in enumerate(shown)]
    more = f"{len(drives) - len(shown)} more drives are not shown" if shown != drives else ""
    return PanelChart(
        title="Write amplification of drives over time",
        subtitle=more,
        x_label="days",
        y_label="",
        panels=(
            Panel("Write amplification of each interval", tuple(wa), x_label="days", y_label="WA"),
            Panel("Volume of the host", tuple(daily), x_label="days", y_label="GB a day"),
        ),
        columns=1,
        own_axes=True,
    )
