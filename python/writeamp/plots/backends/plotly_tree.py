"""Draw a tree with Plotly."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go  # type: ignore[import-untyped]

from writeamp.plots.backends.plotly_parts import text_of
from writeamp.plots.spec import TreeChart
from writeamp.plots.style import FAINT

_LEVEL_PIXELS = 150


def tree(spec: TreeChart) -> Any:
    """Return the nodes as boxes with lines between them."""
    places = spec.places()
    figure = go.Figure()
    for node, (x, y) in zip(spec.nodes, places, strict=True):
        for below in node.below:
            figure.add_scatter(
                x=[x, places[below][0]],
                y=[y, places[below][1]],
                mode="lines",
                line={"color": FAINT, "width": 1.6},
                hoverinfo="skip",
                showlegend=False,
            )
        figure.add_annotation(
            x=x,
            y=y,
            text=text_of(node.text),
            showarrow=False,
            font={"size": 11},
            bgcolor="white",
            bordercolor=node.color,
            borderpad=5,
        )
    levels = 1 + max(-y for _, y in places)
    figure.update_layout(height=120 + _LEVEL_PIXELS * levels)
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False, range=[0.5 - levels, 0.5])
    return figure
