"""Draw charts of several panels with Matplotlib."""

from __future__ import annotations

import math
from collections.abc import Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from writeamp.plots.backends.matplotlib_parts import (
    DASHES,
    draw_line,
    legend_below,
    mark_handles,
)
from writeamp.plots.spec import HeatMap, HeatMapChart, Panel, PanelChart
from writeamp.plots.style import GRID, HEAT_COLORS, INK, heat_ink
from writeamp.plots.wrapping import shortened, wrapped

_MOST_LEGEND_COLUMNS = 3
_LEAST_PANEL_INCHES, _LINE_INCHES = 2.7, 0.17
_MANY_DECADES = 1e3
# Maximum number of x ticks in a row of panels, because tick labels may be long.
_MOST_TICKS = 12
# Ticks within a decade of a logarithmic axis on narrow panels.
_FEW_STEPS = (1.0, 3.0)
# Height limits of a heat map in inches: minimum with row names, minimum without row names, and
# maximum.
_LEAST_MAP_INCHES, _LEAST_PLAIN_INCHES, _MOST_MAP_INCHES = 1.6, 0.9, 8.0
# Characters of tick labels and of a title that fit an inch of a figure's width.
_NAME_CHARACTERS = 9.0
_TITLE_CHARACTERS = 8.0
# Limit in characters of rotated tick labels and of row names of a heat map.
_ASLANT_CHARACTERS = 28


def draw_panels(figure: Figure, spec: PanelChart) -> Axes:
    """Draw small line charts with one legend below; return the axes of the first."""
    rows = math.ceil(len(spec.panels) / spec.columns)
    height = max(0.375 * figure.get_figwidth(), _LEAST_PANEL_INCHES)
    figure.set_figheight(height if rows == 1 else 0.75 + 2.9 * rows)
    grid = figure.subplots(
        rows,
        spec.columns,
        squeeze=False,
        sharex=not spec.own_axes,
        sharey=not (spec.own_y or spec.own_axes),
    )
    handles: dict[str, Artist] = {}
    for axes, panel in zip(grid.flat, spec.panels, strict=False):
        for handle in _panel(axes, panel, spec, alone=len(spec.panels) == 1):
            handles.setdefault(str(handle.get_label()), handle)
    for axes in grid.flat[len(spec.panels) :]:
        axes.set_visible(False)
    if spec.own_axes:
        for axes, panel in zip(grid.flat, spec.panels, strict=False):
            axes.set_xlabel(panel.x_label)
            axes.set_ylabel(panel.y_label)
    else:
        for axes in grid[-1]:
            axes.set_xlabel(spec.x_label)
        if rows == 1:
            grid[0, 0].set_ylabel(spec.y_label)
        else:
            figure.supylabel(spec.y_label, fontsize=10, multialignment="center")
    lines = legend_below(figure, list(handles.values()), _MOST_LEGEND_COLUMNS)
    figure.set_figheight(figure.get_figheight() + _LINE_INCHES * max(0.0, lines - 1))
    first: Axes = grid.flat[0]
    return first


def _panel(axes: Axes, panel: Panel, spec: PanelChart, *, alone: bool) -> list[Artist]:
    x_log, y_log = (panel.x_log, panel.y_log) if spec.own_axes else (spec.x_log, spec.y_log)
    if x_log:
        axes.set_xscale("log")
    if y_log:
        axes.set_yscale("log")
    panels = (panel,) if spec.own_axes else spec.panels
    _plain_ticks(axes, panels, spec.columns, x_log=x_log, y_log=y_log)
    if spec.columns > 1 and not x_log:
        axes.xaxis.set_major_locator(MaxNLocator(_MOST_TICKS // spec.columns))
    if spec.x_ticks:
        axes.set_xticks(spec.x_ticks)
        axes.set_xticks((), minor=True)
    names = panel.x_names if spec.own_axes else spec.x_names
    for area in panel.areas:
        axes.fill_between(area.x, area.low, area.high, color=area.color, alpha=0.18, lw=0)
    for mark in panel.levels:
        axes.axhline(mark.value, color=mark.color, lw=1.2, ls=DASHES[mark.dash], zorder=1.5)
    drawn = [(line, draw_line(axes, line)) for line in panel.lines]
    if not alone:
        title = wrapped(panel.title, _in_panel(axes, spec.columns, _TITLE_CHARACTERS), 2)
        axes.set_title(title, loc="left", fontsize=10, fontweight="bold")
    from_zero = spec.own_axes and panel.from_zero
    if spec.own_y or (from_zero and not y_log):
        axes.set_ylim(bottom=0)
    if from_zero and not x_log:
        axes.set_xlim(left=0)
    if names:
        _name_ticks(axes, names, spec.columns)
    if panel.x_ends:
        axes.set_xlim(panel.x_ends)
    if panel.y_ends:
        axes.set_ylim(panel.y_ends)
    axes.grid(color=GRID, lw=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    labelled: list[Artist] = [artist for line, artist in drawn if line.label is not None]
    return labelled + mark_handles(panel.levels)


def _in_panel(axes: Axes, columns: int, per_inch: float) -> int:
    """Return the number of characters that fit the width of a panel."""
    inches = axes.figure.bbox.width / axes.figure.dpi
    return int(inches * per_inch / columns)


def _name_ticks(axes: Axes, names: Sequence[str], columns: int) -> None:
    """Set names as x tick labels, rotated if they would overlap, and fit the x limits."""
    _names_along(axes, names, columns)
    axes.set_xlim(-0.5, len(names) - 0.5)


def _names_along(axes: Axes, names: Sequence[str], columns: int) -> None:
    """Label whole numbers on the x axis with names, rotated if they would overlap."""
    shown = [shortened(name, _ASLANT_CHARACTERS) for name in names]
    axes.set_xticks(range(len(names)), shown)
    if len(names) * max(map(len, shown)) > _in_panel(axes, columns, _NAME_CHARACTERS):
        for label in axes.get_xticklabels():
            label.set(rotation=30, ha="right", rotation_mode="anchor")


def _plain_ticks(
    axes: Axes, panels: Sequence[Panel], columns: int, *, x_log: bool, y_log: bool
) -> None:
    """Format logarithmic ticks as plain numbers, because math markup is disabled."""
    plain = FuncFormatter(lambda value, _: _plain(value))
    lines = [line for panel in panels for line in panel.lines]
    for axis, is_log, values in (
        (axes.xaxis, x_log, [x for line in lines for x in line.x]),
        (axes.yaxis, y_log, [y for line in lines for y in line.y]),
    ):
        if is_log:
            axis.set_major_formatter(plain)
            axis.set_minor_formatter(NullFormatter())
            steps = _log_steps(values)
            is_crowded = axis is axes.xaxis and columns > 2 and max(steps) > 1
            axis.set_major_locator(LogLocator(subs=_FEW_STEPS if is_crowded else steps))


def _plain(value: float) -> str:
    """Return a number as digits without an exponent, such as 0.00001."""
    return np.format_float_positional(value, 6, fractional=False, trim="-")


def _log_steps(values: Sequence[float]) -> tuple[float, ...]:
    """Return the ticks within a decade: more if the values span few decades."""
    numbers = [value for value in values if not math.isnan(value)]
    is_wide = bool(numbers) and max(numbers) > _MANY_DECADES * min(numbers)
    return (1.0,) if is_wide else (1.0, 2.0, 5.0)


def draw_heat_maps(figure: Figure, spec: HeatMapChart) -> Axes:
    """Draw heat maps with one colour scale at the right; return the axes of the first."""
    rows = math.ceil(len(spec.maps) / spec.columns)
    in_rows, in_columns = len(spec.maps[0].values), len(spec.maps[0].values[0])
    map_height = figure.get_figwidth() / spec.columns * 0.75 * in_rows / in_columns
    least = _LEAST_MAP_INCHES if spec.y_ticks else _LEAST_PLAIN_INCHES
    fitting = min(max(map_height, least), _MOST_MAP_INCHES)
    figure.set_figheight(0.75 + rows * fitting)
    grid = figure.subplots(rows, spec.columns, squeeze=False, sharex=True, sharey=True)
    for axes, heat_map in zip(grid.flat, spec.maps, strict=False):
        image = _heat_map(axes, heat_map, spec)
    for axes in grid.flat[len(spec.maps) :]:
        axes.set_visible(False)
    figure.supxlabel(spec.x_label, fontsize=10)
    figure.supylabel(spec.y_label, fontsize=10)
    bar = figure.colorbar(image, ax=grid, shrink=0.6, pad=0.02, label=spec.color_label)
    bar.outline.set_visible(False)
    first: Axes = grid.flat[0]
    return first


def _heat_map(axes: Axes, heat_map: HeatMap, spec: HeatMapChart) -> AxesImage:
    image = axes.imshow(
        heat_map.values,
        cmap=mpl.colormaps[HEAT_COLORS[spec.scale.diverges]],
        vmin=spec.scale.low,
        vmax=spec.scale.high,
        aspect="auto",
    )
    for row, values in enumerate(heat_map.values):
        for column, value in enumerate(values):
            if text := spec.cell_text(value):
                color = heat_ink(value, spec.scale)
                axes.text(column, row, text, ha="center", va="center", fontsize=9, color=color)
    title = wrapped(heat_map.title, _in_panel(axes, spec.columns, _TITLE_CHARACTERS), 2)
    axes.set_title(title, loc="left", fontsize=10, color=INK)
    if spec.x_ticks:
        _names_along(axes, spec.x_ticks, spec.columns)
    else:
        axes.set_xticks(())
    names = [wrapped(name, _ASLANT_CHARACTERS, 2) for name in spec.y_ticks]
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    return image
