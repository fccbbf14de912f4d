"""Draw a figure as one small HTML page that needs no network.

It is an SVG with values under the pointer, a legend that hides and shows series, and zoom.

A page with a plotting library in it would have 1 to 5 MB, and one without it would need a file
beside it or the network; and the page is the same picture as the others, drawn once by Matplotlib.
`figure.js` finds its parts by their names, which `marked` gives them.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from writeamp.pages.escaping import text
from writeamp.pages.frame import page, source
from writeamp.plots.backends.matplotlib_backend import METADATA, drawn, our_settings
from writeamp.plots.output import inline_svg
from writeamp.plots.spec import BarChart, FigureSpec, HeatMapChart, LineChart, PanelChart, TreeChart

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


# Of one line; what lies between is seen, and its neighbours are told.
_MOST_OF_A_LINE = 400
_MOST_IN_ALL = 8_000
# Along a bar, so that it tells its value wherever it is pointed at.
_STEPS = 12


@dataclass(frozen=True)
class Value:
    """A place, in shares of the figure from its upper left, and what is said there.

    `axes` and `series` are the numbers of those that it belongs to, -1 of none.
    """

    x: float
    y: float
    text: str
    axes: int
    series: int


def values_in(
    figure: Figure, spec: FigureSpec, series: Mapping[Artist, int] = MappingProxyType({})
) -> list[Value]:
    """Return the values that a drawn figure tells, with their places; `series` number its lines."""
    if isinstance(spec, TreeChart):
        return []
    if isinstance(spec, BarChart):
        return list(_of_bars(figure, spec))
    if isinstance(spec, HeatMapChart):
        return list(_of_cells(figure, spec))
    return list(_of_lines(figure, series))


def _of_bars(figure: Figure, spec: BarChart) -> Iterator[Value]:
    axes = figure.axes[0]
    for at, (place, end) in enumerate(zip(spec.places(), spec.ends(), strict=True)):
        parts = [f"{layer.label}: {layer.values[at]:.4f}" for layer in spec.layers]
        if spec.marks and not math.isnan(spec.marks[at]):
            parts.append(f"theory: {spec.marks[at]:.4f}")
        words = "\n".join([spec.bars[at], spec.texts[at], *parts])
        along = np.linspace(0, end, _STEPS)
        points = np.column_stack([along, np.full(_STEPS, place)])
        yield from _values(figure, axes, points, [words] * _STEPS)


def _of_cells(figure: Figure, spec: HeatMapChart) -> Iterator[Value]:
    for axes, heat_map in zip(figure.axes, spec.maps, strict=False):
        cells = [
            (column, row, f"{x}, {y}\n{spec.color_label}: {value:.6g}")
            for row, (y, values) in enumerate(zip(spec.y_ticks, heat_map.values, strict=True))
            for column, (x, value) in enumerate(zip(spec.x_ticks, values, strict=True))
            if not math.isnan(value)
        ]
        columns, rows, texts = zip(*cells, strict=True) if cells else ((), (), ())
        yield from _values(figure, axes, np.column_stack([columns, rows]), texts)


def _of_lines(figure: Figure, series: Mapping[Artist, int]) -> Iterator[Value]:
    # A line that crosses the axes at a value has no points of its own.
    shown = [axes for axes in figure.axes if axes.get_visible()]
    lines = [
        (at, axes, line)
        for at, axes in enumerate(shown)
        for line in axes.lines
        if line.get_transform() == axes.transData
    ]
    most = min(_MOST_OF_A_LINE, _MOST_IN_ALL // max(1, len(lines)))
    for at, axes, line in lines:
        points = np.asarray(line.get_xydata(), dtype=np.float64)
        points = points[np.isfinite(points).all(axis=1)]
        points = points[:: max(1, math.ceil(len(points) / max(1, most)))]
        label = str(line.get_label())
        name = "" if label.startswith("_") else f"{label}\n"
        texts = [f"{name}{x:.6g}, {y:.6g}" for x, y in points]
        of = (at, series.get(line, -1))
        yield from _values(figure, axes, points, texts, of)


def _values(
    figure: Figure,
    axes: Axes,
    points: npt.NDArray[np.float64],
    texts: Sequence[str],
    of: tuple[int, int] = (-1, -1),
) -> Iterator[Value]:
    """Return values at points of an axes' data, those that lie within it."""
    if not len(texts):
        return
    pixels = axes.transData.transform(points)
    shares = figure.transFigure.inverted().transform(pixels)
    box = axes.get_position()
    for (right, up), words in zip(shares, texts, strict=True):
        if box.x0 - 1e-6 <= right <= box.x1 + 1e-6 and box.y0 - 1e-6 <= up <= box.y1 + 1e-6:
            yield Value(float(right), 1 - float(up), words, *of)


# Beyond so many marks a line is drawn as an image: each mark of an SVG has a hundred bytes.
_MOST_MARKS = 1_000

_BODY = """<main><div id="picture" role="group" aria-label="{words}">
{svg}<div id="frame"></div><div id="point"></div><div id="value"></div>
</div>
<p class="muted screen">Point at the picture for its values; press a name of the legend to hide or
show it. <span id="zoom">Draw a rectangle to see it larger.
<button type="button" id="whole" disabled>Show all of it</button></span></p></main>"""
_HERE = "writeamp.plots.backends"


def render(spec: FigureSpec, _kind: str) -> bytes:
    """Return the figure as the bytes of a self-contained HTML page."""
    with our_settings():
        figure = drawn(spec)
        _simplify(figure)
        parts = marked(figure, spec)
        buffer = io.BytesIO()
        figure.savefig(buffer, format="svg", metadata=METADATA["svg"])
    values = [
        (round(one.x, 5), round(one.y, 5), one.text, one.axes, one.series)
        for one in values_in(figure, spec, parts.series)
    ]
    return page(
        spec.title,
        _BODY.format(svg=inline_svg(buffer.getvalue()), words=text(spec.title)),
        styles=[source(_HERE, "figure.css")],
        scripts=[source(_HERE, "figure.js")],
        data={"values": values, "axes": parts.axes},
    )


def _simplify(figure: Figure) -> None:
    for axes in figure.axes:
        for line in axes.lines:
            if line.get_marker() != "none" and np.size(line.get_xdata()) > _MOST_MARKS:
                line.set_rasterized(True)
