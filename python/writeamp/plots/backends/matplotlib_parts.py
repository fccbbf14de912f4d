"""Lines, marks, legends and titles that all Matplotlib figures share."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.typing import LineStyleType

from writeamp.plots.spec import Dash, FigureSpec, HeatMapChart, Line, Mark, Marker, PanelChart
from writeamp.plots.style import MUTED
from writeamp.plots.wrapping import fitting, most_columns, wrapped

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
    """Draw a line and its markers, and return its artist for the legend."""
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
        # Marks have a white edge, which separates overlapping marks.
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


# Legend below a figure: characters per inch of its width, and per line of a label.
_INCH_CHARACTERS, _LABEL_CHARACTERS = 11, 60
_BESIDE_CHARACTERS = 40
_STYLE: dict[str, Any] = {"frameon": False, "handlelength": 2.6}


def legend_below(figure: Figure, handles: Sequence[Artist], most: int) -> float:
    """Draw a legend below, with at most `most` columns; return its height in lines."""
    if not handles:
        return 0.0
    labels = [wrapped(str(handle.get_label()), _LABEL_CHARACTERS, 2) for handle in handles]
    columns = most_columns(labels, int(_INCH_CHARACTERS * figure.get_figwidth()), most)
    rows = math.ceil(len(labels) / columns)
    columns = math.ceil(len(labels) / rows)  # fewer columns, so that rows are of similar length
    _opaque(figure.legend(handles, labels, loc="outside lower center", ncols=columns, **_STYLE))
    return rows * (0.2 + max(label.count("\n") + 1 for label in labels))


def legend_beside(figure: Figure, handles: Sequence[Artist]) -> None:
    """Draw a legend at the right."""
    labels = [wrapped(str(handle.get_label()), _BESIDE_CHARACTERS, 5) for handle in handles]
    _opaque(figure.legend(handles, labels, loc="outside right center", **_STYLE))


def _opaque(legend: Legend) -> None:
    for handle in filter(None, legend.legend_handles):
        handle.set_alpha(1.0)  # marks that are faded in the figure would be hard to see here


# Share of the figure's width that text may use.
_SHARE = 0.98
# Height in inches of title and subtitle, and of each further line of them.
_TITLES_INCHES, _TITLE_INCHES, _SUBTITLE_INCHES = 0.85, 0.23, 0.17
_TITLE_LINES, _SUBTITLE_LINES, _LABEL_LINES = 3, 5, 2
# A label at the left of an axis may be a little longer than the axis.
_UPRIGHT_LINES, _UPRIGHT_SHARE = 4, 1.15


def add_titles(figure: Figure, axes: Axes, spec: FigureSpec) -> None:
    """Add title and subtitle above a drawn figure, aligned with the left edge of `axes`.

    The layout is computed and then fixed. If both titles are empty, no space is left for them.
    """
    if not (spec.title or spec.subtitle):
        figure.draw_without_rendering()
        _fix_layout(figure)
        return
    in_panels = isinstance(spec, PanelChart | HeatMapChart)
    title = figure.suptitle(spec.title, ha="left", fontsize=13, fontweight="bold")
    figure.draw_without_rendering()
    left = axes.get_position().x0
    title.set_x(left)
    shown = fitting(spec.title, _TITLE_LINES, _fits(title, figure))
    subtitle = figure.text(left, 0, spec.subtitle, fontsize=9.5, color=MUTED, va="bottom")
    below = fitting(spec.subtitle, _SUBTITLE_LINES, _fits(subtitle, figure))
    # Panels have their own titles, so empty lines reserve space for the subtitle.
    title.set_text(shown + ("\n " * (below.count("\n") + 1) if in_panels else ""))
    if not in_panels:
        subtitle.remove()
        axes.set_title(below, loc="left", fontsize=9.5, color=MUTED, pad=10)
    more = _TITLE_INCHES * shown.count("\n") + _SUBTITLE_INCHES * below.count("\n")
    figure.set_figheight(figure.get_figheight() + _TITLES_INCHES + more)
    _fix_layout(figure)
    left = axes.get_position().x0
    title.set_x(left)
    if in_panels:
        bottom = figure.transFigure.inverted().transform(title.get_window_extent())[0][1]
        subtitle.set(x=left, y=bottom, text=below)


def _fix_layout(figure: Figure) -> None:
    for axes in figure.axes:
        _fit_label(axes, figure)
        _fit_upright_label(axes)
    figure.draw_without_rendering()
    figure.set_layout_engine("none")


def _fits(text: Text, figure: Figure) -> Callable[[str], bool]:
    """Return a function that tests whether a string fits at the text's place."""

    def fits(candidate: str) -> bool:
        text.set_text(candidate)
        return bool(text.get_window_extent().x1 <= _SHARE * figure.bbox.width)

    return fits


def _fit_upright_label(axes: Axes) -> None:
    """Wrap a y axis label that is longer than its axis."""
    label = axes.yaxis.label
    text, most = label.get_text(), axes.bbox.height * _UPRIGHT_SHARE
    if not text or label.get_window_extent().height <= most:
        return

    def fits(candidate: str) -> bool:
        label.set_text(candidate)
        return bool(label.get_window_extent().height <= most)

    label.set_text(fitting(text, _UPRIGHT_LINES, fits))


def _fit_label(axes: Axes, figure: Figure) -> None:
    """Wrap an x axis label that would extend beyond the figure."""
    label = axes.xaxis.label
    extent, middle = label.get_window_extent(), sum(axes.bbox.intervalx) / 2
    text = label.get_text()
    most = 2 * min(middle, figure.bbox.width - middle) * _SHARE
    if not text or extent.width <= most:
        return

    def fits(candidate: str) -> bool:
        label.set_text(candidate)
        return bool(label.get_window_extent().width <= most)

    label.set_text(fitting(text, _LABEL_LINES, fits))
