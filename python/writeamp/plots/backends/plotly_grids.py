"""Draw charts of several panels with Plotly."""

from __future__ import annotations

import math
from typing import Any

import plotly.graph_objects as go  # type: ignore[import-untyped]
from plotly.subplots import make_subplots  # type: ignore[import-untyped]

from writeamp.plots.backends.plotly_parts import (
    area_style,
    legend_entry,
    line_style,
    stroke,
    text_of,
)
from writeamp.plots.spec import HeatMapChart, PanelChart
from writeamp.plots.style import GRID, HEAT_COLORS, heat_ink

_ROW_PIXELS = 300


def panels(spec: PanelChart) -> Any:
    """Return small line charts with one legend."""
    figure = _grid(spec, [panel.title for panel in spec.panels])
    labels: set[str] = set()
    for index, panel in enumerate(spec.panels):
        place = _place(index, spec.columns)
        for area in panel.areas:
            figure.add_scatter(**area_style(area), **place)
        for line in panel.lines:
            new = line.label is not None and line.label not in labels
            figure.add_scatter(
                x=line.x,
                y=line.y,
                **line_style(line),
                showlegend=new,
                legendgroup=line.label and text_of(line.label),
                **place,
            )
            if line.label is not None:
                labels.add(line.label)
        for mark in panel.levels:
            figure.add_hline(mark.value, line=stroke(mark), **place)
            if mark.label is not None and mark.label not in labels:
                figure.add_scatter(**legend_entry(mark), **place)
                labels.add(mark.label)
    figure.update_xaxes(gridcolor=GRID, zeroline=False, type="log" if spec.x_log else "linear")
    if spec.x_ticks:
        figure.update_xaxes(tickmode="array", tickvals=spec.x_ticks)
    if spec.x_names:
        last = len(spec.x_names) - 1
        names = [text_of(name) for name in spec.x_names]
        figure.update_xaxes(
            tickmode="array",
            tickvals=list(range(last + 1)),
            ticktext=names,
            range=[-0.5, last + 0.5],
        )
    figure.update_yaxes(gridcolor=GRID, zeroline=False, type="log" if spec.y_log else "linear")
    if spec.own_y:
        figure.update_yaxes(rangemode="tozero")
    if spec.own_axes:
        _own_axes(figure, spec)
    return figure


def _own_axes(figure: Any, spec: PanelChart) -> None:
    """Give each panel axes of its own."""
    for index, panel in enumerate(spec.panels):
        place = _place(index, spec.columns)
        for update, label, is_log in (
            (figure.update_xaxes, panel.x_label, panel.x_log),
            (figure.update_yaxes, panel.y_label, panel.y_log),
        ):
            mode = "tozero" if panel.from_zero else "normal"
            kind = {"type": "log"} if is_log else {"type": "linear", "rangemode": mode}
            update(title_text=text_of(label), **kind, **place)
        if panel.y_ends:
            ends = [math.log10(end) if panel.y_log else end for end in panel.y_ends]
            figure.update_yaxes(range=ends, **place)


def heat_maps(spec: HeatMapChart) -> Any:
    """Return heat maps with one scale of colours."""
    figure = _grid(spec, [heat_map.title for heat_map in spec.maps])
    x_ticks, y_ticks = ([text_of(tick) for tick in ticks] for ticks in (spec.x_ticks, spec.y_ticks))
    for index, heat_map in enumerate(spec.maps):
        place = _place(index, spec.columns)
        figure.add_trace(
            go.Heatmap(z=heat_map.values, x=x_ticks, y=y_ticks, coloraxis="coloraxis"), **place
        )
        for row, values in enumerate(heat_map.values):
            for column, value in enumerate(values):
                figure.add_annotation(
                    x=x_ticks[column],
                    y=y_ticks[row],
                    text=text_of(spec.cell_text(value)),
                    showarrow=False,
                    font={"color": heat_ink(value, spec.scale), "size": 11},
                    **place,
                )
    figure.update_layout(
        coloraxis={
            "colorscale": HEAT_COLORS[spec.scale.diverges],
            "cmin": spec.scale.low,
            "cmax": spec.scale.high,
            "colorbar": {"title": {"text": text_of(spec.color_label), "side": "right"}},
        }
    )
    figure.update_xaxes(type="category")
    figure.update_yaxes(type="category", autorange="reversed")
    return figure


def _grid(spec: PanelChart | HeatMapChart, titles: list[str]) -> Any:
    rows = math.ceil(len(titles) / spec.columns)
    own_axes = isinstance(spec, PanelChart) and spec.own_axes
    own_y = isinstance(spec, PanelChart) and spec.own_y
    figure = make_subplots(
        rows=rows,
        cols=spec.columns,
        shared_xaxes=False if own_axes else "all",
        shared_yaxes=False if own_axes or own_y else "all",
        subplot_titles=[text_of(title) for title in titles],
        x_title=text_of(spec.x_label),
        y_title=text_of(spec.y_label),
    )
    figure.update_layout(height=200 + _ROW_PIXELS * rows)
    return figure


def _place(index: int, columns: int) -> dict[str, int]:
    return {"row": index // columns + 1, "col": index % columns + 1}
