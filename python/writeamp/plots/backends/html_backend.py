"""Draw a figure as one small HTML page that needs no network.

It is an SVG, with values under the pointer.

A page with a plotting library in it would have 5 MB, and one without it would need a file beside it
or the network; what is read off a picture are its values, which fifty lines of script show.
"""

from __future__ import annotations

import io
import json
from html import escape

import numpy as np
from matplotlib.figure import Figure

from writeamp.plots.backends.hover import Value, values_in
from writeamp.plots.backends.matplotlib_backend import METADATA, drawn, our_settings
from writeamp.plots.inline_svg import inline_svg
from writeamp.plots.spec import FigureSpec

# Beyond so many marks a line is drawn as an image: each mark of an SVG has a hundred bytes.
_MOST_MARKS = 1_000

_STYLE = """
body { margin: 1.5em auto; max-width: 78em; padding: 0 1em; background: white; }
#picture { position: relative; }
svg { display: block; width: 100%; height: auto;
  font-family: "DejaVu Sans", Verdana, sans-serif; }
#value, #point { position: absolute; display: none; pointer-events: none; }
#value { background: white; border: 1px solid #a9afb7; border-radius: 4px; padding: .3em .6em;
  font: 13px/1.4 "DejaVu Sans", Verdana, sans-serif; color: #222; white-space: pre-wrap;
  overflow-wrap: anywhere; max-width: 32em; z-index: 1; }
#point { width: 9px; height: 9px; margin: -6px 0 0 -6px; border: 2px solid #222;
  border-radius: 50%; }
"""

# Each value is [x, y, text], its place in shares of the picture from the upper left.
_SCRIPT = """
"use strict";
const picture = document.getElementById("picture");
const value = document.getElementById("value");
const point = document.getElementById("point");
const values = JSON.parse(document.getElementById("values").textContent);
picture.addEventListener("pointermove", (event) => {
  const box = picture.getBoundingClientRect();
  const x = event.clientX - box.left, y = event.clientY - box.top;
  let nearest = null, least = 40 * 40;
  for (const one of values) {
    const distance = (one[0] * box.width - x) ** 2 + (one[1] * box.height - y) ** 2;
    if (distance < least) { least = distance; nearest = one; }
  }
  for (const part of [value, point]) part.style.display = nearest ? "block" : "none";
  if (!nearest) return;
  value.textContent = nearest[2];
  const left = nearest[0] * box.width, top = nearest[1] * box.height;
  point.style.left = left + "px";
  point.style.top = top + "px";
  value.style.left = Math.max(0, Math.min(left + 12, box.width - value.offsetWidth)) + "px";
  value.style.top = Math.max(0, top - value.offsetHeight - 10) + "px";
});
picture.addEventListener("pointerleave", () => {
  for (const part of [value, point]) part.style.display = "none";
});
"""


def render(spec: FigureSpec, _kind: str) -> bytes:
    """Return the figure as the bytes of a self-contained HTML page."""
    with our_settings():
        figure = drawn(spec)
        _simplify(figure)
        buffer = io.BytesIO()
        figure.savefig(buffer, format="svg", metadata=METADATA["svg"])
    values = values_in(figure, spec)
    return _page(spec.title, inline_svg(buffer.getvalue()), values).encode()


def _simplify(figure: Figure) -> None:
    for axes in figure.axes:
        for line in axes.lines:
            if line.get_marker() != "none" and np.size(line.get_xdata()) > _MOST_MARKS:
                line.set_rasterized(True)


def _page(title: str, svg: str, values: list[Value]) -> str:
    shown = [(round(one.x, 5), round(one.y, 5), one.text) for one in values]
    # In a script nothing is escaped, so nothing may look like its end.
    data = json.dumps(shown, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return (
        f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n"
        f'<div id="picture">\n{svg}<div id="point"></div><div id="value"></div>\n</div>\n'
        f'<script type="application/json" id="values">{data}</script>\n'
        f"<script>{_SCRIPT}</script>\n</html>\n"
    )
