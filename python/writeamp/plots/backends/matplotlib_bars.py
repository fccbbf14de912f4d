"""Draw horizontal bars and trees with Matplotlib."""

from __future__ import annotations

import math
from dataclasses import replace

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from writeamp.plots.backends.matplotlib_parts import (
    DASHES,
    draw_line,
    legend_below,
    mark_handles,
)
from writeamp.plots.spec import BarChart, TreeChart
from writeamp.plots.style import FAINT, GRID, INK
from writeamp.plots.wrapping import shortened, wrapped

# Height in inches of a bar with its space, and of one line of its name; long names make bars
# higher.
_BAR_INCHES, _LINE_INCHES = 0.42, 0.17
# Names have at most this share of the width, in characters per inch of it.
_NAME_CHARACTERS, _INCH_CHARACTERS, _NAME_LINES = 34, 4.5, 4
_HEADING_CHARACTERS = 60
_LEGEND_COLUMNS = 4
# Background of text that is drawn over lines.
_PAPER = {"facecolor": "white", "edgecolor": "none", "pad": 1.5, "alpha": 0.85}


def draw_bars(figure: Figure, spec: BarChart) -> Axes:
    """Draw horizontal bars with a legend below, and return their axes."""
    axes = figure.add_subplot()
    characters = min(_NAME_CHARACTERS, int(_INCH_CHARACTERS * figure.get_figwidth()))
    names = [wrapped(name, characters, _NAME_LINES) for name in spec.bars]
    places, headings = spec.places(), spec.headings()
    lines = max((name.count("\n") + 1 for name in names), default=1)
    inches = max(_BAR_INCHES, _LINE_INCHES * lines + 0.1)
    figure.set_figheight(1.15 + inches * (len(places) + len(headings)))
    for heading, at in headings:
        axes.annotate(
            shortened(heading, _HEADING_CHARACTERS),
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
        if layer.label != spec.x_label:  # a label equal to the axis label needs no legend entry
            handles.append(Patch(color=layer.color, label=layer.label))
    for place, low, high in zip(places, spec.low, spec.high, strict=True):
        if not math.isnan(low):
            axes.plot([low, high], [place] * 2, color=INK, lw=1.2, marker="|", ms=6, zorder=3)
    for mark in spec.levels:
        axes.axvline(mark.value, color=mark.color, lw=1.2, ls=DASHES[mark.dash], zorder=2.5)
    for line in spec.points:
        marks = draw_line(axes, replace(line, y=[places[int(bar)] for bar in line.y]))
        marks.set_zorder(3.5)  # drawn above the error bar
        handles += [marks] if line.label else []
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
    axes.set_yticks(places, names)
    axes.tick_params(axis="y", length=0)
    axes.set_xlim(*_ends(spec))
    axes.set_xlabel(spec.x_label)
    axes.grid(axis="x", color=GRID, lw=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.set_ylim(places[-1] + 0.6, places[0] - (1.3 if headings else 0.6))
    rows = legend_below(figure, handles + mark_handles(spec.levels), _LEGEND_COLUMNS)
    figure.set_figheight(figure.get_figheight() + _LINE_INCHES * rows)
    return axes


def _ends(spec: BarChart) -> tuple[float, float]:
    """Return the limits of the x axis, with space for the texts at the right."""
    values = [*spec.reaches(), *(mark.value for mark in spec.levels), 0.0]
    if spec.layers:
        return 0.0, 1.17 * max(values)
    values = [*values[:-1], *(end for end in spec.low if not math.isnan(end))]
    values += [value for line in spec.points for value in line.x]
    low, high = min(values), max(values)
    span = high - low or 0.1 * abs(high) or 1.0
    return low - 0.08 * span, high + 0.25 * span


_LEAF_INCHES, _LEVEL_INCHES = 1.5, 1.35


def draw_tree(figure: Figure, spec: TreeChart) -> Axes:
    """Draw a tree of boxes joined by lines, and return the axes."""
    places = spec.places()
    leaves, levels = 1 + max(x for x, _ in places), 1 + max(-y for _, y in places)
    figure.set_figwidth(max(figure.get_figwidth(), _LEAF_INCHES * leaves))
    figure.set_figheight(0.15 + _LEVEL_INCHES * levels)
    axes = figure.add_subplot()
    axes.set_axis_off()
    axes.set_xlim(-0.5, leaves - 0.5)
    axes.set_ylim(0.5 - levels, 0.5)
    for node, (x, y) in zip(spec.nodes, places, strict=True):
        for below in node.below:
            axes.plot([x, places[below][0]], [y, places[below][1]], color=FAINT, lw=1.2, zorder=1)
        box = {"boxstyle": "round", "facecolor": "white", "edgecolor": node.color}
        axes.text(x, y, node.text, fontsize=8.5, ha="center", va="center", bbox=box, zorder=2)
    return axes
