"""Draw a figure with Matplotlib, without its global state of current figures."""

from __future__ import annotations

import io
import math

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.patches import Patch, Rectangle
from matplotlib.text import Text
from matplotlib.ticker import MaxNLocator

from writeamp.plots.backends.matplotlib_grids import draw_heat_maps, draw_panels
from writeamp.plots.backends.matplotlib_parts import DASHES, draw_line, mark_handles
from writeamp.plots.backends.matplotlib_tree import draw_tree
from writeamp.plots.spec import (
    BarChart,
    FigureSpec,
    HeatMapChart,
    LineChart,
    PanelChart,
    Strip,
    TreeChart,
)
from writeamp.plots.style import GRID, INK, MUTED, shortened

_DPI = 160
_LINES_INCHES, _STRIP_INCHES = 5.0, 0.9
_BAR_INCHES = 0.42
_LEGEND_COLUMNS = 4
# Behind text that stands on lines.
_PAPER = {"facecolor": "white", "edgecolor": "none", "pad": 1.5, "alpha": 0.85}
# Of the width, for a title and what is left of it.
_TITLE_SHARE = 0.98
# Text stays text in SVG and PDF, and the same figure gives the same bytes.
_SETTINGS = {
    "svg.fonttype": "none",
    "svg.hashsalt": "writeamp",
    "pdf.fonttype": 42,
    "text.parse_math": False,
    "text.usetex": False,
    "font.size": 10,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": MUTED,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
}
_METADATA = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {"Software": None}}


def render(spec: FigureSpec, kind: str) -> bytes:
    """Return the figure as the bytes of a file of `kind` "png", "svg" or "pdf"."""
    with mpl.rc_context():
        mpl.rcdefaults()  # the user's own may need LaTeX, or fonts that are not there
        mpl.rcParams.update(_SETTINGS)  # type: ignore[arg-type]
        figure = Figure(layout=ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.06))
        FigureCanvasAgg(figure)
        _titles(figure, _draw(figure, spec), spec)
        buffer = io.BytesIO()
        figure.savefig(buffer, format=kind, dpi=_DPI, metadata=_METADATA[kind])
    return buffer.getvalue()


def _draw(figure: Figure, spec: FigureSpec) -> Axes:
    """Draw all but the titles, and return the axes with which those stand flush."""
    if isinstance(spec, PanelChart):
        return draw_panels(figure, spec)
    if isinstance(spec, HeatMapChart):
        return draw_heat_maps(figure, spec)
    if isinstance(spec, TreeChart):
        return draw_tree(figure, spec)
    if isinstance(spec, LineChart):
        return _line_chart(figure, spec)
    axes = figure.add_subplot()
    _legend(figure, spec, _bars(figure, axes, spec))
    return axes


def _line_chart(figure: Figure, spec: LineChart) -> Axes:
    heights = [_LINES_INCHES, *(_STRIP_INCHES for _ in spec.strips)]
    figure.set_size_inches(10, sum(heights))
    column = figure.subplots(
        len(heights), sharex=True, squeeze=False, gridspec_kw={"height_ratios": heights}
    )[:, 0]
    first: Axes = column[0]
    handles = _lines(first, spec)
    for axes, strip in zip(column[1:], spec.strips, strict=True):
        handles += _strip(axes, strip)
    for axes in column:
        for mark in spec.instants:
            axes.axvline(mark.value, color=mark.color, lw=1.0, ls=DASHES[mark.dash], zorder=1.5)
        axes.grid(color=GRID, lw=0.8)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
    column[-1].set_xlabel(spec.x_label)
    figure.align_ylabels(column)
    _legend(figure, spec, handles)
    return first


def _lines(axes: Axes, spec: LineChart) -> list[Artist]:
    for band in spec.bands:
        corner = (band.x_low, band.y_low)
        width, height = band.x_high - band.x_low, band.y_high - band.y_low
        axes.add_patch(Rectangle(corner, width, height, color=band.color, alpha=0.2, lw=0))
    handles: list[Artist] = []
    for line in spec.lines:
        artist = draw_line(axes, line)
        if line.label is not None:
            handles.append(artist)
    for mark in spec.levels:
        axes.axhline(mark.value, color=mark.color, lw=1.1, ls=DASHES[mark.dash], zorder=1.5)
    axes.set_ylabel(spec.y_label)
    axes.set_xlim(0, 1.01 * max((max(line.x) for line in spec.lines if line.x), default=1.0))
    return handles + mark_handles(spec.levels)


def _strip(axes: Axes, strip: Strip) -> list[Artist]:
    handles: list[Artist] = []
    for line in strip.lines:
        artist: Artist = draw_line(axes, line)
        if strip.filled:
            artist = axes.fill_between(line.x, line.y, color=line.color, lw=0, label=line.label)
        if line.label is not None:
            handles.append(artist)
    axes.set_ylabel(strip.label)
    if strip.rows:
        axes.set_yticks(range(len(strip.rows)), strip.rows)
        axes.set_ylim(-0.6, len(strip.rows) - 0.4)
    else:
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_locator(MaxNLocator(2, integer=True))
    return handles


def _bars(figure: Figure, axes: Axes, spec: BarChart) -> list[Artist]:
    places, headings = spec.places(), spec.headings()
    figure.set_size_inches(10, 2.2 + _BAR_INCHES * (len(places) + len(headings)))
    for heading, at in headings:
        axes.annotate(
            heading,
            (0, places[at] - 0.85),
            xycoords=("axes fraction", "data"),
            va="center",
            fontweight="bold",
            bbox=_PAPER,
        )
    starts = [0.0] * len(spec.bars)
    handles: list[Artist] = []
    for layer in spec.layers:
        axes.barh(places, layer.values, left=starts, height=0.66, color=layer.color)
        starts = [start + value for start, value in zip(starts, layer.values, strict=True)]
        handles.append(Patch(color=layer.color, label=layer.label))
    for place, low, high in zip(places, spec.low, spec.high, strict=True):
        if not math.isnan(low):
            axes.plot([low, high], [place] * 2, color=INK, lw=1.2, marker="|", ms=6, zorder=3)
    for mark in spec.levels:
        axes.axvline(mark.value, color=mark.color, lw=1.2, ls=DASHES[mark.dash], zorder=2.5)
    for place, reach, text in zip(places, spec.reaches(), spec.texts, strict=True):
        axes.annotate(
            text,
            (reach, place),
            (7, 0),
            textcoords="offset points",
            va="center",
            bbox=_PAPER,
            zorder=4,
        )
    axes.set_yticks(places, spec.bars)
    axes.tick_params(axis="y", length=0)
    axes.invert_yaxis()
    axes.set_xlim(0, 1.17 * max(*spec.reaches(), *(mark.value for mark in spec.levels), 0.0))
    axes.set_xlabel(spec.x_label)
    axes.grid(axis="x", color=GRID, lw=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    return handles + mark_handles(spec.levels)


def _legend(figure: Figure, spec: LineChart | BarChart, handles: list[Artist]) -> None:
    labels = [str(handle.get_label()) for handle in handles]
    if isinstance(spec, LineChart):
        legend = figure.legend(
            handles, labels, loc="outside right center", frameon=False, handlelength=2.6
        )
        for handle in filter(None, legend.legend_handles):
            handle.set_alpha(1.0)  # one faded tick is hardly seen
    else:
        columns = len(handles) if len(handles) <= _LEGEND_COLUMNS else _LEGEND_COLUMNS - 1
        figure.legend(handles, labels, loc="outside lower center", frameon=False, ncols=columns)


def _titles(figure: Figure, axes: Axes, spec: FigureSpec) -> None:
    in_panels = isinstance(spec, PanelChart | HeatMapChart)
    if not in_panels:
        axes.set_title(spec.subtitle, loc="left", fontsize=9.5, color=MUTED, pad=10)
    # Above panels, which have titles of their own, empty lines keep room for the subtitle.
    after = "\n " * (spec.subtitle.count("\n") + 1) if in_panels else ""
    title = figure.suptitle(spec.title + after, ha="left", fontsize=13, fontweight="bold")
    # The layout decides where the axes begin; the title stands flush with them.
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    left = axes.get_position().x0
    title.set_x(left)
    _shorten(title, spec.title, after, figure)
    if in_panels:
        bottom = figure.transFigure.inverted().transform(title.get_window_extent())[0][1]
        figure.text(left, bottom, spec.subtitle, fontsize=9.5, color=MUTED, va="bottom")


def _shorten(title: Text, text: str, after: str, figure: Figure) -> None:
    """Show of a title what does not reach beyond the right edge, and then what stands after it."""

    def fits(part: str) -> bool:
        title.set_text(part + after)
        return bool(title.get_window_extent().x1 <= _TITLE_SHARE * figure.bbox.width)

    title.set_text(shortened(text, fits) + after)
