"""Marks in a drawn figure by which a page finds its parts: series, legend entries, axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from writeamp.plots.spec import FigureSpec, LineChart, PanelChart

# Colour and dash: what tells series apart, and joins the parts of one.
_Look: TypeAlias = tuple[str, str]


@dataclass(frozen=True)
class Marked:
    """Axes that a page may zoom into, and the number of the series of each line that has one.

    `axes` are JSON types: `id` in the drawing, `box` (left, top, right, bottom, in shares of the
    figure from its upper left), `x` and `y` (the ends), `xLog` and `yLog`, and `joined`, whether
    all axes have one x axis.
    """

    axes: list[dict[str, Any]]
    series: dict[Artist, int]


def marked(figure: Figure, spec: FigureSpec) -> Marked:
    """Name the parts of a drawn figure, and return what a page should know of them."""
    figure.canvas.draw()
    series = _mark_series(figure)
    axes = []
    if isinstance(spec, LineChart | PanelChart):
        for at, one in enumerate(figure.axes):
            if one.get_visible():
                one.set_gid(f"axes-{at}")
                for number, artist in enumerate([*one.lines, *one.collections, *one.patches]):
                    if artist.get_gid() is None:
                        artist.set_gid(f"data-{at}-{number}")
                axes.append(_facts(one, f"axes-{at}", is_joined=isinstance(spec, LineChart)))
    return Marked(axes, series)


def _mark_series(figure: Figure) -> dict[Artist, int]:
    """Give each legend entry, and all that is drawn in its look, the number of the entry."""
    if not figure.legends:
        return {}
    legend = figure.legends[0]
    looks: dict[_Look, int] = {}
    for at, (handle, words) in enumerate(
        zip(legend.legend_handles, legend.get_texts(), strict=True)
    ):
        if handle is not None:
            looks.setdefault(_look(handle), at)
            handle.set_gid(f"legend-{at}-mark")
            words.set_gid(f"legend-{at}-words")
    colors = [color for color, _ in looks]
    alone = {color: at for (color, _), at in looks.items() if colors.count(color) == 1}
    found: dict[Artist, int] = {}
    for axes in figure.axes:
        for artist in (*axes.lines, *axes.collections, *axes.patches):
            look = _look(artist)
            at = looks.get(look, alone.get(look[0], -1))
            if at >= 0:
                artist.set_gid(f"series-{at}-{len(found)}")
                found[artist] = at
    return found


def _look(artist: Artist) -> _Look:
    if isinstance(artist, Line2D):
        return to_hex(artist.get_color()), str(getattr(artist, "_dash_pattern", ""))
    color = artist.get_facecolor() if isinstance(artist, Patch) else _first(artist)
    return to_hex(color), "area"


def _first(artist: Any) -> Any:
    """Return the colour of a collection."""
    colors = artist.get_facecolor()
    return colors[0] if len(colors) else "none"


def _facts(axes: Axes, name: str, *, is_joined: bool) -> dict[str, Any]:
    box = axes.get_position()
    return {
        "id": name,
        "box": [round(one, 5) for one in (box.x0, 1 - box.y1, box.x1, 1 - box.y0)],
        "x": [float(end) for end in axes.get_xlim()],
        "y": [float(end) for end in axes.get_ylim()],
        "xLog": axes.get_xscale() == "log",
        "yLog": axes.get_yscale() == "log",
        "joined": is_joined,
    }
