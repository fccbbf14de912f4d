"""Figure of a sweep over two axes: a heat map, with values in the cells where they fit."""

from __future__ import annotations

import math
from collections.abc import Sequence

from writeamp.errors import WriteampError
from writeamp.plots.spec import ColorScale, HeatMap, HeatMapChart

# So many characters stand beside each other in one row of all maps.
_CHARACTERS = 95
_MOST_COLUMNS = 3


def cells_over_axes(
    maps: Sequence[tuple[str, Sequence[Sequence[float]]]],
    *,
    title: str,
    subtitle: str,
    x_label: str,
    y_label: str,
    color_label: str,
    x_ticks: Sequence[str],
    y_ticks: Sequence[str],
) -> HeatMapChart:
    """Describe heat maps on one scale of colours, from the least value to the greatest.

    Args:
        maps: the title of each, and its values, a row for each of `y_ticks` from the top and a
            column for each of `x_ticks`; NaN where there is none.
        title: what is shown.
        subtitle: what all cells have in common.
        x_label: what runs along the x axis.
        y_label: what runs along the y axis.
        color_label: what was found.
        x_ticks: the values of x.
        y_ticks: the values of y, from the top.

    Raises:
        WriteampError: no cell has a value.
    """
    known = [value for _, rows in maps for row in rows for value in row if not math.isnan(value)]
    if not known:
        raise WriteampError("a heat map of a sweep needs at least one point that found something")
    low, high = min(known), max(known)
    columns = min(len(maps), _MOST_COLUMNS)
    number = _number_format(low, high)
    widest = max(len(number.format(value)) for value in known)
    fits = (widest + 1) * len(x_ticks) * columns <= _CHARACTERS
    return HeatMapChart(
        title=title,
        subtitle=subtitle,
        x_label=x_label,
        y_label=y_label,
        x_ticks=tuple(x_ticks),
        y_ticks=tuple(y_ticks),
        color_label=color_label,
        maps=tuple(HeatMap(name, tuple(map(tuple, rows))) for name, rows in maps),
        columns=columns,
        scale=ColorScale(low, high),
        cell_format=number if fits else "",
    )


def _number_format(low: float, high: float) -> str:
    """Return a format with three digits of the greatest value, or of the range if that is small."""
    size = max(abs(low), abs(high))
    decimals = 2 - math.floor(math.log10(size)) if size > 0 else 2
    if high > low:
        decimals = max(decimals, 1 - math.floor(math.log10(high - low)))
    return f"{{:.{max(0, decimals)}f}}" if decimals <= 6 else "{:.3g}"
