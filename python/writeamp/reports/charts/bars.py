"""Bars of a histogram that stand on an axis."""

from __future__ import annotations

from collections.abc import Sequence

from writeamp.reports.charts.axes import Axes
from writeamp.reports.charts.svg import drawing, filled

_HEIGHT = 240.0


def histogram(edges: Sequence[float], counts: Sequence[float], x_words: str, y_words: str) -> str:
    """Return the drawing; bar i counts the whole numbers from edge i on, below edge i + 1."""
    axes = Axes(edges[0] - 0.5, edges[-1] - 0.5, 0, 1.05 * (max(counts) or 1), _HEIGHT)
    bars = [
        filled(
            axes.x(low - 0.5),
            axes.y(count),
            max(axes.x(high) - axes.x(low) - 1, 0.8),
            axes.y(0) - axes.y(count),
            color="--series-1",
            title=f"{low:.6g}: {count:,.6g} {y_words}" if high - low == 1 else "",
        )
        for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)
        if count
    ]
    most = counts.index(max(counts))
    words = f"Histogram of {x_words}; most {y_words} at {edges[most]:.6g}"
    return drawing(_HEIGHT, [*axes.frame(x_words, y_words, is_whole=True), *bars], words)
