"""Titles and labels of Matplotlib figures, broken where they would leave the figure."""

from __future__ import annotations

from collections.abc import Callable

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from writeamp.plots.spec import FigureSpec, HeatMapChart, PanelChart
from writeamp.plots.style import MUTED
from writeamp.plots.wrapping import fitting

# Of the width, for all that stands on a line.
_SHARE = 0.98
# Of a further line.
_TITLE_INCHES, _SUBTITLE_INCHES = 0.23, 0.17
_TITLE_LINES, _SUBTITLE_LINES, _LABEL_LINES = 3, 5, 2


def add_titles(figure: Figure, axes: Axes, spec: FigureSpec) -> None:
    """Write title and subtitle above a figure that is drawn, flush with some axes.

    The layout decides where the axes begin, and then leaves all in its place.
    """
    in_panels = isinstance(spec, PanelChart | HeatMapChart)
    title = figure.suptitle(spec.title, ha="left", fontsize=13, fontweight="bold")
    figure.draw_without_rendering()
    left = axes.get_position().x0
    title.set_x(left)
    shown = fitting(spec.title, _TITLE_LINES, _fits(title, figure))
    subtitle = figure.text(left, 0, spec.subtitle, fontsize=9.5, color=MUTED, va="bottom")
    below = fitting(spec.subtitle, _SUBTITLE_LINES, _fits(subtitle, figure))
    # Above panels, which have titles of their own, empty lines keep room for the subtitle.
    title.set_text(shown + ("\n " * (below.count("\n") + 1) if in_panels else ""))
    if not in_panels:
        subtitle.remove()
        axes.set_title(below, loc="left", fontsize=9.5, color=MUTED, pad=10)
    more = _TITLE_INCHES * shown.count("\n") + _SUBTITLE_INCHES * below.count("\n")
    figure.set_figheight(figure.get_figheight() + more)
    for one in figure.axes:
        _fit_label(one, figure)
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    left = axes.get_position().x0
    title.set_x(left)
    if in_panels:
        bottom = figure.transFigure.inverted().transform(title.get_window_extent())[0][1]
        subtitle.set(x=left, y=bottom, text=below)


def _fits(text: Text, figure: Figure) -> Callable[[str], bool]:
    """Return a test whether a text, where it stands, stays within the right edge."""

    def fits(part: str) -> bool:
        text.set_text(part)
        return bool(text.get_window_extent().x1 <= _SHARE * figure.bbox.width)

    return fits


def _fit_label(axes: Axes, figure: Figure) -> None:
    """Break the label of an x axis that would reach beyond an edge of the figure."""
    label = axes.xaxis.label
    extent, middle = label.get_window_extent(), sum(axes.bbox.intervalx) / 2
    text = label.get_text()
    most = 2 * min(middle, figure.bbox.width - middle) * _SHARE
    if not text or extent.width <= most:
        return

    def fits(part: str) -> bool:
        label.set_text(part)
        return bool(label.get_window_extent().width <= most)

    label.set_text(fitting(text, _LABEL_LINES, fits))
