"""Draw a figure with Matplotlib, without `pyplot` and its global state."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from writeamp.plots.backends.matplotlib_bars import draw_bars, draw_tree
from writeamp.plots.backends.matplotlib_grids import draw_heat_maps, draw_panels
from writeamp.plots.backends.matplotlib_parts import (
    DASHES,
    add_titles,
    draw_line,
    legend_below,
    legend_beside,
    mark_handles,
)
from writeamp.plots.spec import (
    FigureSpec,
    HeatMapChart,
    LineChart,
    PanelChart,
    Strip,
    TreeChart,
)
from writeamp.plots.style import GRID, INK, MUTED

_DPI = 160
# Figures at least this wide (in inches) have the legend beside the lines, others below them.
WIDE_INCHES, _LEAST_WIDE_INCHES = 10.0, 9.0
_LINES_SHARE, _LEAST_LINES_INCHES, _STRIP_INCHES = 0.415, 2.8, 0.9
_LEGEND_COLUMNS = 4
# Text stays text in SVG and PDF, and output is reproducible byte by byte.
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
METADATA = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {"Software": None}}


def render(spec: FigureSpec, kind: str) -> bytes:
    """Return the figure as the bytes of a file of `kind` "png", "svg" or "pdf"."""
    with our_settings():
        figure = drawn(spec)
        buffer = io.BytesIO()
        figure.savefig(buffer, format=kind, dpi=_DPI, metadata=METADATA[kind])
    return buffer.getvalue()


@contextmanager
def our_settings() -> Iterator[None]:
    """Use writeamp's Matplotlib settings instead of the user's."""
    with mpl.rc_context():
        mpl.rcdefaults()  # the user's settings may need LaTeX or missing fonts
        mpl.rcParams.update(_SETTINGS)  # type: ignore[arg-type]
        yield


def drawn(spec: FigureSpec, width_inches: float = WIDE_INCHES) -> Figure:
    """Return the drawn figure with its layout fixed."""
    layout = ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.06)
    figure = Figure(figsize=(width_inches, width_inches), layout=layout)
    FigureCanvasAgg(figure)
    add_titles(figure, _draw(figure, spec), spec)
    return figure


def _draw(figure: Figure, spec: FigureSpec) -> Axes:
    """Draw all except the titles, and return the axes to which titles are aligned."""
    if isinstance(spec, PanelChart):
        return draw_panels(figure, spec)
    if isinstance(spec, HeatMapChart):
        return draw_heat_maps(figure, spec)
    if isinstance(spec, TreeChart):
        return draw_tree(figure, spec)
    if isinstance(spec, LineChart):
        return _line_chart(figure, spec)
    return draw_bars(figure, spec)


def _line_chart(figure: Figure, spec: LineChart) -> Axes:
    height = max(figure.get_figwidth() * _LINES_SHARE, _LEAST_LINES_INCHES)
    heights = [height, *(_STRIP_INCHES for _ in spec.strips)]
    figure.set_figheight(sum(heights))
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
    if figure.get_figwidth() < _LEAST_WIDE_INCHES:
        legend_below(figure, handles, _LEGEND_COLUMNS)
    elif handles:
        legend_beside(figure, handles)
    return first


def _lines(axes: Axes, spec: LineChart) -> list[Artist]:
    for band in spec.bands:
        corner = (band.x_low, band.y_low)
        width, height = band.x_high - band.x_low, band.y_high - band.y_low
        patch = Rectangle(corner, width, height, color=band.color, alpha=band.opacity, lw=0)
        axes.add_patch(patch)
    handles: list[Artist] = []
    for line in spec.lines:
        artist = draw_line(axes, line)
        if line.label is not None:
            handles.append(artist)
    for mark in spec.levels:
        # Drawn above the line of a run's mean, which may coincide with the theory's level.
        axes.axhline(mark.value, color=mark.color, lw=1.1, ls=DASHES[mark.dash], zorder=2.5)
    axes.set_ylabel(spec.y_label)
    ends = [max(line.x) for line in spec.lines if line.x]
    end = max(ends or [band.x_high for band in spec.bands], default=1.0)
    axes.set_xlim(spec.x_from, end + 0.01 * (end - spec.x_from))
    if spec.counts:
        axes.autoscale_view()
        axes.set_ylim(bottom=0)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(MaxNLocator("auto", integer=True))
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
