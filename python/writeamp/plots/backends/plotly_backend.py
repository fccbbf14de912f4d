"""Draw a figure with Plotly, as one HTML file that needs no network."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import plotly.graph_objects as go  # type: ignore[import-untyped]
from plotly.subplots import make_subplots  # type: ignore[import-untyped]

from writeamp.plots.backends.plotly_grids import heat_maps, panels
from writeamp.plots.backends.plotly_parts import legend_entry, line_style, stroke, text_of
from writeamp.plots.backends.plotly_tree import tree
from writeamp.plots.spec import (
    BarChart,
    FigureSpec,
    HeatMapChart,
    Line,
    LineChart,
    Mark,
    PanelChart,
    Strip,
    TreeChart,
)
from writeamp.plots.style import GRID, INK, MUTED, shortened

# Of the height of a chart, for each strip.
_STRIP_SHARE = 0.14
_TITLE_CHARACTERS = 90


def render(spec: FigureSpec, _kind: str) -> bytes:
    """Return the figure as the bytes of a self-contained HTML page."""
    figure = _draw(spec)
    figure.update_layout(
        title={
            "text": f"<b>{text_of(shortened(spec.title, _fits))}</b>",
            "subtitle": {"text": text_of(spec.subtitle), "font": {"color": MUTED, "size": 13}},
            "x": 0,
            "xref": "paper",
        },
        font={"color": INK, "family": "DejaVu Sans, Verdana, sans-serif"},
        plot_bgcolor="white",
        margin={"t": 90},
    )
    page: str = figure.to_html(
        include_plotlyjs=True,
        div_id="writeamp",
        config={"displaylogo": False, "typesetMath": False},
    )
    return page.encode()


def _fits(title: str) -> bool:
    """Return whether a title fits on a page of a common width, which only a browser knows."""
    return len(title) <= _TITLE_CHARACTERS


def _draw(spec: FigureSpec) -> Any:
    if isinstance(spec, PanelChart):
        return panels(spec)
    if isinstance(spec, HeatMapChart):
        return heat_maps(spec)
    if isinstance(spec, TreeChart):
        return tree(spec)
    figure = _lines(spec) if isinstance(spec, LineChart) else _bars(spec)
    figure.update_xaxes(gridcolor=GRID, zeroline=False)
    return figure


def _lines(spec: LineChart) -> Any:
    rows = 1 + len(spec.strips)
    strips_share = _STRIP_SHARE * len(spec.strips)
    figure = make_subplots(
        rows=rows,
        shared_xaxes=True,
        vertical_spacing=0.03,
        row_heights=[1 - strips_share, *(_STRIP_SHARE for _ in spec.strips)],
    )
    figure.update_yaxes(gridcolor=GRID, zeroline=False)
    figure.update_xaxes(rangemode="tozero")
    for line in spec.lines:
        _add_line(figure, line, 1)
    for row, strip in enumerate(spec.strips, start=2):
        _add_strip(figure, strip, row)
    for band in spec.bands:
        figure.add_shape(
            type="rect",
            x0=band.x_low,
            x1=band.x_high,
            y0=band.y_low,
            y1=band.y_high,
            fillcolor=band.color,
            opacity=0.2,
            line_width=0,
            layer="below",
            row=1,
            col=1,
        )
    for mark in spec.instants:
        figure.add_vline(mark.value, line=stroke(mark))
    for mark in spec.levels:
        figure.add_hline(mark.value, line=stroke(mark), row=1, col=1)
    _add_legend_entries(figure, spec.levels)
    figure.update_yaxes(title=text_of(spec.y_label), row=1)
    figure.update_xaxes(title=text_of(spec.x_label), row=rows)
    return figure


def _add_strip(figure: Any, strip: Strip, row: int) -> None:
    for line in strip.lines:
        if line.marker == "tick" and line.label is not None:
            # One faded tick is hardly seen, so the legend has an entry that is not.
            entry = replace(line, x=(), y=(), opacity=1.0)
            group = {"legendgroup": text_of(line.label)}
            _add_line(figure, replace(line, label=None), row, **group)
            _add_line(figure, entry, row, **group)
        else:
            _add_line(figure, line, row, fill="tozeroy" if strip.filled else "none")
    figure.update_yaxes(title=text_of(strip.label), row=row)
    if strip.rows:
        last = len(strip.rows) - 1
        figure.update_yaxes(
            range=[-0.6, last + 0.6],
            tickmode="array",
            tickvals=list(range(last + 1)),
            ticktext=[text_of(name) for name in strip.rows],
            row=row,
        )
    else:
        figure.update_yaxes(rangemode="tozero", nticks=3, row=row)


def _add_line(figure: Any, line: Line, row: int, **more: str) -> None:
    figure.add_scatter(
        # A line without points is there for its legend entry, which needs one all the same.
        x=line.x or (None,),
        y=line.y or (None,),
        **line_style(line),
        **more,
        showlegend=line.label is not None,
        row=row,
        col=1,
    )


def _bars(spec: BarChart) -> Any:
    figure = go.Figure()
    # Plotly joins bars of equal labels; numbers keep them apart, and the axis shows the labels.
    places = list(range(len(spec.bars)))
    for layer in spec.layers:
        figure.add_bar(
            x=layer.values,
            y=places,
            orientation="h",
            marker_color=layer.color,
            name=text_of(layer.label),
            customdata=[text_of(bar) for bar in spec.bars],
            hovertemplate="%{customdata}: %{x:.4f}",
        )
    ends = spec.ends()
    with_interval = [place for place in places if not math.isnan(spec.low[place])]
    figure.add_scatter(
        x=[ends[place] for place in with_interval],
        y=with_interval,
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [spec.high[place] - ends[place] for place in with_interval],
            "arrayminus": [ends[place] - spec.low[place] for place in with_interval],
            "color": INK,
            "thickness": 1.5,
            "width": 5,
        },
        mode="none",
        showlegend=False,
        hoverinfo="skip",
    )
    for place, reach, text in zip(places, spec.reaches(), spec.texts, strict=True):
        figure.add_annotation(
            x=reach,
            y=place,
            text=text_of(text),
            showarrow=False,
            xanchor="left",
            xshift=8,
            bgcolor="rgba(255,255,255,0.85)",
        )
    for mark in spec.levels:
        figure.add_vline(mark.value, line=stroke(mark))
    _add_legend_entries(figure, spec.levels)
    figure.update_layout(
        barmode="stack",
        bargap=0.34,
        height=280 + 42 * len(spec.bars),
        margin={"b": 110},
        legend={
            "orientation": "h",
            "yref": "container",
            "y": 0.02,
            "yanchor": "bottom",
            "traceorder": "normal",
        },
    )
    figure.update_yaxes(
        autorange="reversed",
        tickmode="array",
        tickvals=places,
        ticktext=[text_of(bar) for bar in spec.bars],
    )
    furthest = max(*spec.reaches(), *(mark.value for mark in spec.levels), 0.0)
    figure.update_xaxes(range=[0, 1.17 * furthest], title=text_of(spec.x_label))
    return figure


def _add_legend_entries(figure: Any, marks: tuple[Mark, ...]) -> None:
    for mark in marks:
        figure.add_scatter(**legend_entry(mark))
