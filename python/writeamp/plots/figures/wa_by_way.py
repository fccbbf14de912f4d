"""Figure of the write amplification that every way answers, dots with their intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from writeamp.errors import WriteampError
from writeamp.plots.spec import Line, Panel, PanelChart
from writeamp.plots.style import MUTED, series_color

# Of the highest and lowest value, the room that is left above and below.
_ROOM = 0.08


class WayDot(NamedTuple):
    """Answer of a way: WA, its 95% interval, and whether nothing is said against it."""

    way: str
    wa: float
    low: float
    high: float
    is_sound: bool


def wa_by_way(dots: Sequence[WayDot], *, title: str, subtitle: str) -> PanelChart:
    """Describe a dot with its interval for each way.

    Args:
        dots: from left to right.
        title: what is shown.
        subtitle: the drive.

    Raises:
        WriteampError: no way has an answer.
    """
    if not dots:
        raise WriteampError("no way has an answer, so there is nothing to draw")
    lines = [
        Line([at, at], [one.low, one.high], series_color(0), 1.5)
        for at, one in enumerate(dots)
        if one.high > one.low
    ]
    for label, is_sound, color in (
        ("WA", True, series_color(0)),
        ("outside its domain, or not steady", False, MUTED),
    ):
        chosen = [(at, one.wa) for at, one in enumerate(dots) if one.is_sound is is_sound]
        if chosen:
            x, y = zip(*chosen, strict=True)
            lines.append(Line(x, y, color, 0.0, label=label, marker="circle"))
    low = min(min(one.low, one.wa) for one in dots)
    high = max(max(one.high, one.wa) for one in dots)
    room = _ROOM * (high - low or high)
    return PanelChart(
        title=title,
        subtitle=subtitle,
        x_label="",
        y_label="write amplification, with its 95% interval",
        panels=(
            Panel(
                "",
                tuple(lines),
                from_zero=False,
                y_ends=(math.floor((low - room) * 100) / 100, math.ceil((high + room) * 100) / 100),
            ),
        ),
        columns=1,
        x_ticks=tuple(float(at) for at in range(len(dots))),
        x_names=tuple(one.way.replace(", ", ",\n") for one in dots),
    )
