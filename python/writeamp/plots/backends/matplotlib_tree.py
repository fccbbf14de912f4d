"""Draw a tree with Matplotlib."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from writeamp.plots.spec import TreeChart
from writeamp.plots.style import FAINT

_LEAF_INCHES, _LEVEL_INCHES = 1.5, 1.35
_LEAST_INCHES = 10.0


def draw_tree(figure: Figure, spec: TreeChart) -> Axes:
    """Draw the nodes as boxes with lines between them, and return the axes."""
    places = spec.places()
    leaves, levels = 1 + max(x for x, _ in places), 1 + max(-y for _, y in places)
    figure.set_size_inches(max(_LEAST_INCHES, _LEAF_INCHES * leaves), 1.0 + _LEVEL_INCHES * levels)
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
