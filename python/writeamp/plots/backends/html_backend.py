"""Draw a figure as one small HTML page that needs no network.

It is an SVG with values under the pointer, a legend that hides and shows series, and zoom.

A page with a plotting library in it would have 1 to 5 MB, and one without it would need a file
beside it or the network; and the page is the same picture as the others, drawn once by Matplotlib.
`figure.js` finds its parts by the names that they get here. The same SVG stands in the text of
other pages, such as reports, in their colours and with its values as tooltips.
"""

from __future__ import annotations

import io
import math
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from writeamp.pages.frame import page, source
from writeamp.plots.backends.matplotlib_backend import METADATA, WIDE_INCHES, drawn, our_settings
from writeamp.plots.spec import BarChart, FigureSpec, HeatMapChart, LineChart, PanelChart, TreeChart
from writeamp.plots.style import FAINT, GRID, HOST_COLOR, INK, MUTED, SERIES_COLORS
from writeamp.text import html_text

# Colour and dash: what tells series apart, and joins the parts of one.
_Look: TypeAlias = tuple[str, str]


def _mark_axes(figure: Figure, spec: FigureSpec) -> list[dict[str, Any]]:
    """Name the axes that a page may zoom into, and return what it must know of them.

    These are JSON types: `id` in the drawing, `box` (left, top, right, bottom, in shares of the
    figure from its upper left), `x` and `y` (the ends), `xLog` and `yLog`, and `joined`, whether
    all axes have one x axis.
    """
    axes = []
    if isinstance(spec, LineChart | PanelChart):
        for at, one in enumerate(figure.axes):
            if one.get_visible():
                one.set_gid(f"axes-{at}")
                for number, artist in enumerate([*one.lines, *one.collections, *one.patches]):
                    if artist.get_gid() is None:
                        artist.set_gid(f"data-{at}-{number}")
                axes.append(_facts(one, f"axes-{at}", is_joined=isinstance(spec, LineChart)))
    return axes


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


class Value(NamedTuple):
    """A place, in shares of the figure from its upper left, and what is said there.

    `axes` and `series` are the numbers of those that it belongs to, -1 of none.
    """

    x: float
    y: float
    text: str
    axes: int
    series: int


def _values_in(figure: Figure, spec: FigureSpec, series: Mapping[Artist, int]) -> Iterator[Value]:
    """Yield the values of a drawn figure with their places; `series` number its lines."""
    if isinstance(spec, BarChart):
        yield from _of_bars(figure, spec)
    elif isinstance(spec, HeatMapChart):
        yield from _of_cells(figure, spec)
    elif not isinstance(spec, TreeChart):
        yield from _of_lines(figure, series)
    if isinstance(spec, LineChart):
        bands = [one for one in spec.bands if one.text]
        tops = [((one.x_low + one.x_high) / 2, one.y_high) for one in bands]
        yield from _values(figure, figure.axes[0], np.array(tops), [one.text for one in bands])


def _of_bars(figure: Figure, spec: BarChart) -> Iterator[Value]:
    axes = figure.axes[0]
    for at, (place, end) in enumerate(zip(spec.places(), spec.ends(), strict=True)):
        layers = [one for one in spec.layers if one.values[at] and one.label != spec.x_label]
        parts = [f"{layer.label}: {layer.values[at]:.4f}" for layer in layers]
        on_bar = spec.points_of(at)
        parts += [f"{label}: {value:.4f}" for label, value in on_bar]
        words = "\n".join([spec.bars[at], spec.texts[at], *parts])
        along = np.linspace(0, end, _STEPS) if spec.layers else [value for _, value in on_bar]
        points = np.column_stack([along, np.full(len(along), place)])
        yield from _values(figure, axes, points, [words] * len(along))


def _of_cells(figure: Figure, spec: HeatMapChart) -> Iterator[Value]:
    if not (spec.x_ticks and spec.y_ticks):
        return
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
    svg, values, axes = _parts(spec, WIDE_INCHES)
    found = [(round(one.x, 5), round(one.y, 5), *one[2:]) for one in values]
    return page(
        spec.title,
        _BODY.format(svg=svg, words=html_text(spec.title)),
        styles=[source(_HERE, "figure.css")],
        scripts=[source(_HERE, "figure.js")],
        data={"values": found, "axes": axes},
    )


def _parts(
    spec: FigureSpec, width_inches: float, colors: Mapping[str, str] = MappingProxyType({})
) -> tuple[str, list[Value], list[dict[str, Any]]]:
    """Return the SVG of the figure, the values in it, and the axes that may be zoomed into."""
    with our_settings():
        figure = drawn(spec, width_inches)
        _simplify(figure)
        figure.canvas.draw()
        series, axes = _mark_series(figure), _mark_axes(figure, spec)
        buffer = io.BytesIO()
        figure.savefig(buffer, format="svg", metadata=METADATA["svg"])
        svg = _within_html(buffer.getvalue().decode(), colors)
        return svg, list(_values_in(figure, spec, series)), axes


# What a page has already, or does not need: facts of the file, and in tags its size, namespaces
# and font. Texts stay as they are.
_METADATA = re.compile(r"<metadata>.*?</metadata>", re.DOTALL)
_TAG = re.compile(r"<[^>]*>")
_NEEDLESS = re.compile(
    r"(?<=^<svg).*?(?= viewBox)| xmlns=.*(?=>$)|xlink:(?=href)|font-family: [^;\"]*;? ?", re.DOTALL
)
_SPACE = re.compile(r">\s+<")
# A hundredth of a point cannot be seen.
_DIGITS = re.compile(r"(\d\.\d\d)\d+")
_COLOR = re.compile(r"#[0-9a-f]{6}\b")


def _within_html(file: str, colors: Mapping[str, str]) -> str:
    """Return the SVG of a file without what makes it long, with other words for its colours."""

    def tag(found: re.Match[str]) -> str:
        shorter = _DIGITS.sub(r"\1", _NEEDLESS.sub("", found[0]))
        return _COLOR.sub(lambda color: colors.get(color[0], color[0]), shorter)

    svg = _METADATA.sub("", file[file.index("<svg") :])
    return _SPACE.sub(">\n<", _TAG.sub(tag, svg)).rstrip()


def _simplify(figure: Figure) -> None:
    for axes in figure.axes:
        for line in axes.lines:
            if line.get_marker() != "none" and np.size(line.get_xdata()) > _MOST_MARKS:
                line.set_rasterized(True)


# Of a figure in the text of a page, where letters are as large as those beside it.
_INLINE_INCHES = 7.2
# More values than this are those of a line, whose shape says more.
_MOST_TIPS = 200
_VARIABLES = {
    **{color: f"series-{at}" for at, color in enumerate(SERIES_COLORS, start=1)},
    **{INK: "ink", MUTED: "muted", FAINT: "faint", GRID: "grid"},
    **{HOST_COLOR: "host", "#FFFFFF": "background"},
}
# A page without the style of ours has the colours of other figures.
_THEME = {color.lower(): f"var(--{name},{color})" for color, name in _VARIABLES.items()}


def inline(spec: FigureSpec, *, has_titles: bool, inside: str) -> str:
    """Return the figure for the text of a page, with values as tooltips.

    Its `data-axes` are the ends of x and of y of the first axes, and where their left, right, top
    and bottom are in the SVG.
    """
    shown = spec if has_titles else replace(spec, title="", subtitle="")
    svg, values, axes = _parts(shown, _INLINE_INCHES, _THEME)
    _, _, width, height = (float(one) for one in svg.split('"')[1].split())
    tips = "".join(
        f'<circle cx="{one.x * width:.1f}" cy="{one.y * height:.1f}" r="8" fill="transparent">'
        f"<title>{html_text(one.text)}</title></circle>"
        for one in (values if len(values) <= _MOST_TIPS else ())
    )
    facts = ""
    if axes:
        left, top, right, bottom = axes[0]["box"]
        places = [left * width, right * width, top * height, bottom * height]
        numbers = " ".join(f"{one:.6g}" for one in (*axes[0]["x"], *axes[0]["y"], *places))
        facts = f' data-axes="{numbers}"'
    head = f'<svg role="img" aria-label="{html_text(spec.title)}"{facts} {_LINE_ENDS}'
    drawing = _beside_others(svg.removeprefix("<svg").removesuffix("</svg>"))
    return f"{head}{drawing}{inside}{tips}</svg>"


# The rule that Matplotlib gives for all elements would hold in the whole page.
_LINE_ENDS = 'stroke-linejoin="round" stroke-linecap="butt"'
_RULE = re.compile(r"<defs>\s*<style.*?</style>\s*</defs>", re.DOTALL)
_REFERENCE = re.compile(r"(?:url\(#|href=\"#)([^)\"]+)")
_ID = re.compile(r' id="([^"]*)"')


def _beside_others(svg: str) -> str:
    """Return a drawing with those ids only to which it refers, each unique in the page."""
    own = f"{zlib.crc32(svg.encode()):08x}"
    used = {name for tag in _TAG.findall(svg) for name in _REFERENCE.findall(tag)}

    def renamed(found: re.Match[str]) -> str:
        tag = _ID.sub(lambda one: f' id="{own}-{one[1]}"' if one[1] in used else "", found[0])
        return _REFERENCE.sub(lambda one: one[0].replace(one[1], f"{own}-{one[1]}"), tag)

    return _TAG.sub(renamed, _RULE.sub("", svg))
