"""Draw a figure as one small self-contained HTML page.

The page is an SVG with values under the pointer, a legend that hides and shows series, and zoom.
Matplotlib draws the SVG, so that all formats look the same. A JavaScript plotting library would add
1 to 5 MB to each page.

`figure.js` finds elements by the ids that are set here. Other pages, such as reports, embed the
same SVG in their own colours and with values as tooltips.
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
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from writeamp.pages.frame import page, source
from writeamp.plots.backends.matplotlib_backend import METADATA, WIDE_INCHES, drawn, our_settings
from writeamp.plots.spec import BarChart, FigureSpec, HeatMapChart, LineChart, PanelChart, TreeChart
from writeamp.plots.style import (
    FAINT,
    GRID,
    HOST_COLOR,
    INK,
    MUTED,
    SERIES_COLORS,
    THEORY_COLOR,
)
from writeamp.text import html_text

# Colour and dash of a line, which identify the Matplotlib artists of a series.
_Look: TypeAlias = tuple[str, str]


def _mark_axes(figure: Figure, spec: FigureSpec) -> list[dict[str, Any]]:
    """Set ids of the axes that a page can zoom, and return their description as JSON types.

    Keys: `id` in the drawing; `box` (left, top, right, bottom, as shares of the figure from its
    upper left corner); `x` and `y` (limits); `xLog` and `yLog`; `joined`, True if all axes share
    one x axis.
    """
    axes = []
    if isinstance(spec, LineChart | PanelChart):
        for index, subplot in enumerate(figure.axes):
            if subplot.get_visible():
                subplot.set_gid(f"axes-{index}")
                for number, artist in enumerate(
                    [*subplot.lines, *subplot.collections, *subplot.patches]
                ):
                    if artist.get_gid() is None:
                        artist.set_gid(f"data-{index}-{number}")
                axes.append(_facts(subplot, f"axes-{index}", is_joined=isinstance(spec, LineChart)))
    return axes


def _mark_series(figure: Figure) -> dict[Artist, int]:
    """Set ids of legend entries, and return the entry's number for each artist of a series."""
    if not figure.legends:
        return {}
    legend = figure.legends[0]
    looks: dict[_Look, int] = {}
    for number, (handle, words) in enumerate(
        zip(legend.legend_handles, legend.get_texts(), strict=True)
    ):
        if handle is not None:
            looks.setdefault(_look(handle), number)
            handle.set_gid(f"legend-{number}-mark")
            words.set_gid(f"legend-{number}-words")
    colors = [color for color, _ in looks]
    alone = {color: number for (color, _), number in looks.items() if colors.count(color) == 1}
    numbers: dict[Artist, int] = {}
    for axes in figure.axes:
        for artist in (*axes.lines, *axes.collections, *axes.patches):
            look = _look(artist)
            number = looks.get(look, alone.get(look[0], -1))
            if number >= 0:
                artist.set_gid(f"series-{number}-{len(numbers)}")
                numbers[artist] = number
    return numbers


def _look(artist: Artist) -> _Look:
    if isinstance(artist, Line2D):
        return to_hex(artist.get_color()), str(getattr(artist, "_dash_pattern", ""))
    color = artist.get_facecolor() if isinstance(artist, Patch) else _first(artist)
    return to_hex(color), "area"


def _first(artist: Any) -> Any:
    """Return the first face colour of a Matplotlib collection, or "none"."""
    colors = artist.get_facecolor()
    return colors[0] if len(colors) else "none"


def _facts(axes: Axes, name: str, *, is_joined: bool) -> dict[str, Any]:
    box = axes.get_position()
    return {
        "id": name,
        "box": [round(share, 5) for share in (box.x0, 1 - box.y1, box.x1, 1 - box.y0)],
        "x": [float(end) for end in axes.get_xlim()],
        "y": [float(end) for end in axes.get_ylim()],
        "xLog": axes.get_xscale() == "log",
        "yLog": axes.get_yscale() == "log",
        "joined": is_joined,
    }


# Maximum numbers of values with tooltips, of one line and of a figure.
_MOST_OF_A_LINE = 400
_MOST_IN_ALL = 8_000
# Number of positions along a bar at which the pointer shows the value of the bar.
_STEPS = 12


class Value(NamedTuple):
    """A position in a figure, and the text that the pointer shows there.

    `x` and `y` are shares of the figure from its upper left corner. `axes` and `series` are the
    numbers of the value's axes and series, or -1.
    """

    x: float
    y: float
    text: str
    axes: int
    series: int


def _values_in(figure: Figure, spec: FigureSpec, series: Mapping[Artist, int]) -> Iterator[Value]:
    """Yield the values of a drawn figure; `series` has the number of the series of each artist."""
    if isinstance(spec, BarChart):
        yield from _of_bars(figure, spec)
    elif isinstance(spec, HeatMapChart):
        yield from _of_cells(figure, spec)
    elif not isinstance(spec, TreeChart):
        yield from _of_lines(figure, series)
    if isinstance(spec, LineChart):
        bands = [band for band in spec.bands if band.text]
        tops = [((band.x_low + band.x_high) / 2, band.y_high) for band in bands]
        yield from _values(figure, figure.axes[0], np.array(tops), [band.text for band in bands])


def _of_bars(figure: Figure, spec: BarChart) -> Iterator[Value]:
    axes = figure.axes[0]
    for at, (place, end) in enumerate(zip(spec.places(), spec.ends(), strict=True)):
        layers = [
            layer for layer in spec.layers if layer.values[at] and layer.label != spec.x_label
        ]
        lines = [f"{layer.label}: {layer.values[at]:.4f}" for layer in layers]
        on_bar = spec.points_of(at)
        lines += [f"{label}: {value:.4f}" for label, value in on_bar]
        words = "\n".join([spec.bars[at], spec.texts[at], *lines])
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
    # Lines in other coordinates, such as levels across the axes, have no data points.
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
    """Yield the values at data points, shape (n, 2), that lie within the axes."""
    if not len(texts):
        return
    pixels = axes.transData.transform(points)
    shares = figure.transFigure.inverted().transform(pixels)
    box = axes.get_position()
    for (right, up), words in zip(shares, texts, strict=True):
        if box.x0 - 1e-6 <= right <= box.x1 + 1e-6 and box.y0 - 1e-6 <= up <= box.y1 + 1e-6:
            yield Value(float(right), 1 - float(up), words, *of)


# Lines with more marks are drawn as a bitmap, because each mark takes about 100 bytes of SVG.
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
    points = [(round(value.x, 5), round(value.y, 5), *value[2:]) for value in values]
    return page(
        spec.title,
        _BODY.format(svg=svg, words=html_text(spec.title)),
        styles=[source(_HERE, "figure.css")],
        scripts=[source(_HERE, "figure.js")],
        data={"values": points, "axes": axes},
    )


def _parts(
    spec: FigureSpec, width_inches: float, colors: Mapping[str, str] = MappingProxyType({})
) -> tuple[str, list[Value], list[dict[str, Any]]]:
    """Return the SVG of the figure, its values, and the axes that can be zoomed."""
    with our_settings():
        figure = drawn(spec, width_inches)
        _simplify(figure)
        series, axes = _mark_series(figure), _mark_axes(figure, spec)
        buffer = io.BytesIO()
        # `savefig` would draw everything once more, for a layout that is fixed already.
        FigureCanvasSVG(figure).print_svg(  # type: ignore[no-untyped-call]
            buffer, metadata=METADATA["svg"]
        )
        svg = _within_html(buffer.getvalue().decode(), colors)
        return svg, list(_values_in(figure, spec, series)), axes


# Parts of an SVG file that a page does not need: metadata, and in tags the size, namespaces and
# font.
_METADATA = re.compile(r"<metadata>.*?</metadata>", re.DOTALL)
_TAG = re.compile(r"<[^>]*>")
_NEEDLESS = re.compile(
    r"(?<=^<svg).*?(?= viewBox)| xmlns=.*(?=>$)|xlink:(?=href)|font-family: [^;\"]*;? ?", re.DOTALL
)
_SPACE = re.compile(r">\s+<")
# Coordinates in an SVG, which are cut to hundredths of a point.
_DIGITS = re.compile(r"(\d\.\d\d)\d+")
_COLOR = re.compile(r"#[0-9a-f]{6}\b")


def _within_html(file: str, colors: Mapping[str, str]) -> str:
    """Return the SVG of a file without needless parts, with colours replaced by `colors`."""

    def tag(match: re.Match[str]) -> str:
        shorter = _DIGITS.sub(r"\1", _NEEDLESS.sub("", match[0]))
        return _COLOR.sub(lambda color: colors.get(color[0], color[0]), shorter)

    svg = _METADATA.sub("", file[file.index("<svg") :])
    return _SPACE.sub(">\n<", _TAG.sub(tag, svg)).rstrip()


def _simplify(figure: Figure) -> None:
    for axes in figure.axes:
        for line in axes.lines:
            if line.get_marker() != "none" and np.size(line.get_xdata()) > _MOST_MARKS:
                line.set_rasterized(True)


# Widths in inches of a figure within a page and on a phone, at which its text is as large as the
# page's.
_INLINE_INCHES, _PHONE_INCHES = 7.2, 4.0
# Figures in a page with more values, such as long lines, have no tooltips.
_MOST_TIPS = 200
_VARIABLES = {
    **{color: f"series-{at}" for at, color in enumerate(SERIES_COLORS, start=1)},
    **{INK: "ink", MUTED: "muted", FAINT: "faint", GRID: "grid"},
    **{HOST_COLOR: "host", "#FFFFFF": "background", THEORY_COLOR: "ink"},
}
# CSS variables by colour; each has the colour itself as default for pages without the variable.
_THEME = {color.lower(): f"var(--{name},{color})" for color, name in _VARIABLES.items()}


def inline(spec: FigureSpec, *, has_titles: bool, inside: str, for_phone: bool) -> str:
    """Return the figure as SVG for embedding in a page, with values as tooltips.

    For a phone, panels are below each other, and there are no tooltips, which need a pointer.

    The attribute `data-axes` has the x and y limits of the first axes, then their left, right, top
    and bottom in the coordinates of the SVG.
    """
    shown = spec if has_titles else replace(spec, title="", subtitle="")
    if for_phone and isinstance(shown, PanelChart | HeatMapChart):
        shown = replace(shown, columns=1)
    inches = _PHONE_INCHES if for_phone else _INLINE_INCHES
    svg, values, axes = _parts(shown, inches, _THEME)
    if for_phone or len(values) > _MOST_TIPS:
        values = []
    _, _, width, height = (float(size) for size in svg.split('"')[1].split())
    tips = "".join(
        f'<circle cx="{value.x * width:.1f}" cy="{value.y * height:.1f}" r="8" fill="transparent">'
        f"<title>{html_text(value.text)}</title></circle>"
        for value in values
    )
    facts = ""
    if axes:
        left, top, right, bottom = axes[0]["box"]
        places = [left * width, right * width, top * height, bottom * height]
        numbers = " ".join(f"{number:.6g}" for number in (*axes[0]["x"], *axes[0]["y"], *places))
        facts = f' data-axes="{numbers}"'
    head = f'<svg role="img" aria-label="{html_text(spec.title)}"{facts} {_LINE_ENDS}'
    drawing = _beside_others(svg.removeprefix("<svg").removesuffix("</svg>"))
    return f"{head}{drawing}{inside}{tips}</svg>"


# Replaces Matplotlib's style rule, which would apply to the whole page.
_LINE_ENDS = 'stroke-linejoin="round" stroke-linecap="butt"'
_RULE = re.compile(r"<defs>\s*<style.*?</style>\s*</defs>", re.DOTALL)
_REFERENCE = re.compile(r"(?:url\(#|href=\"#)([^)\"]+)")
_ID = re.compile(r' id="([^"]*)"')


def _beside_others(svg: str) -> str:
    """Return an SVG with only the ids that it references, each made unique in the page."""
    own = f"{zlib.crc32(svg.encode()):08x}"
    used = {name for tag in _TAG.findall(svg) for name in _REFERENCE.findall(tag)}

    def renamed(match: re.Match[str]) -> str:
        tag = _ID.sub(lambda inner: f' id="{own}-{inner[1]}"' if inner[1] in used else "", match[0])
        return _REFERENCE.sub(lambda inner: inner[0].replace(inner[1], f"{own}-{inner[1]}"), tag)

    return _TAG.sub(renamed, _RULE.sub("", svg))
