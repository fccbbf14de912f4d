"""Lines, marks and legend entries, as every Matplotlib figure here draws them."""

from __future__ import annotations

from collections.abc import Iterable

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.typing import LineStyleType

from writeamp.plots.spec import Dash, Line, Mark, Marker

DASHES: dict[Dash, LineStyleType] = {
    "solid": "-",
    "dash": (0, (5, 2)),
    "dot": (0, (1, 1.6)),
    "dashdot": (0, (6, 2, 1, 2)),
    "longdash": (0, (10, 3)),
}
_MARKERS: dict[Marker, str] = {
    "circle": "o",
    "square": "s",
    "diamond": "D",
    "triangle": "^",
    "cross": "X",
    "ring": "o",
    "tick": "|",
}
_MARKER_SIZE = 6
_OPEN_SIZES: dict[Marker | None, float] = {"ring": 11, "tick": 13}


def draw_line(axes: Axes, line: Line) -> Line2D:
    """Draw a line and its markers, and return what a legend shows of it."""
    is_open = line.marker in _OPEN_SIZES
    (artist,) = axes.plot(
        line.x,
        line.y,
        color=line.color,
        lw=line.width_pt,
        alpha=line.opacity,
        ls=DASHES[line.dash] if line.width_pt > 0 else "none",
        label=line.label,
        marker=_MARKERS[line.marker] if line.marker else "none",
        ms=_OPEN_SIZES.get(line.marker, _MARKER_SIZE),
        markerfacecolor="none" if is_open else line.color,
        # A rim keeps marks that lie on each other apart.
        markeredgecolor=line.color if is_open else "white",
        markeredgewidth=1.4 if line.marker == "ring" else 0.8,
        zorder=3 if line.marker else 2,
    )
    return artist


def mark_handles(marks: Iterable[Mark]) -> list[Artist]:
    """Return the legend entries of marks."""
    return [
        Line2D([], [], color=mark.color, lw=1.2, ls=DASHES[mark.dash], label=mark.label)
        for mark in marks
    ]
