"""Lines, marks and texts, as every Plotly figure here draws them."""

from __future__ import annotations

from html import escape
from typing import Any

from writeamp.plots.spec import Area, Line, Mark, Marker

_PIXELS_PER_POINT = 4 / 3
_MARKERS: dict[Marker, str] = {
    "circle": "circle",
    "square": "square",
    "diamond": "diamond",
    "triangle": "triangle-up",
    "cross": "x",
    "ring": "circle-open",
    "tick": "line-ns-open",
}
_MARKER_SIZE = 9
_OPEN_SIZES: dict[Marker, int] = {"ring": 16, "tick": 20}


def line_style(line: Line) -> dict[str, Any]:
    """Return how a scatter trace looks and what it is called."""
    modes = ["lines"] * (line.width_pt > 0) + ["markers"] * (line.marker is not None)
    style: dict[str, Any] = {
        "mode": "+".join(modes),
        "opacity": line.opacity,
        "line": {
            "color": line.color,
            "width": line.width_pt * _PIXELS_PER_POINT,
            "dash": line.dash,
        },
        "name": text_of(line.label or ""),
        "hoverinfo": "x+y" if line.label is None else "x+y+name",
    }
    if line.marker is not None:
        style["marker"] = {
            "symbol": _MARKERS[line.marker],
            "size": _OPEN_SIZES.get(line.marker, _MARKER_SIZE),
            "color": line.color,
            "line": {"color": line.color if line.marker in _OPEN_SIZES else "white", "width": 1},
        }
    if line.marker == "tick":
        # Of each tick rather than of them all: where they crowd, the shade is darker.
        style["marker"]["opacity"] = style.pop("opacity")
    return style


def area_style(area: Area) -> dict[str, Any]:
    """Return a trace that fills an area, without a place in the legend."""
    # The opacity of a trace is none of its filling.
    red, green, blue = bytes.fromhex(area.color.removeprefix("#"))
    return {
        "x": [*area.x, *reversed(area.x)],
        "y": [*area.high, *reversed(area.low)],
        "mode": "none",
        "fill": "toself",
        "fillcolor": f"rgba({red}, {green}, {blue}, 0.18)",
        "hoverinfo": "skip",
        "showlegend": False,
    }


def stroke(mark: Mark) -> dict[str, object]:
    """Return how a mark's line looks."""
    return {"color": mark.color, "dash": mark.dash, "width": 1.5}


def legend_entry(mark: Mark) -> dict[str, Any]:
    """Return a trace without points that puts a mark into the legend."""
    name = text_of(mark.label or "")
    return {"x": [None], "y": [None], "mode": "lines", "line": stroke(mark), "name": name}


def text_of(plain: str) -> str:
    """Return text with what Plotly would read as markup made harmless."""
    return escape(plain, quote=False).replace("\n", "<br>")
