"""Draw a figure as one small HTML page that needs no network.

It is an SVG with values under the pointer, a legend that hides and shows series, and zoom.

A page with a plotting library in it would have 1 to 5 MB, and one without it would need a file
beside it or the network; and the page is the same picture as the others, drawn once by Matplotlib.
`figure.js` finds its parts by their names, which `interactive.py` gives them.
"""

from __future__ import annotations

import io

import numpy as np
from matplotlib.figure import Figure

from writeamp.pages.escaping import text
from writeamp.pages.frame import page, source
from writeamp.plots.backends.hover import values_in
from writeamp.plots.backends.interactive import marked
from writeamp.plots.backends.matplotlib_backend import METADATA, drawn, our_settings
from writeamp.plots.inline_svg import inline_svg
from writeamp.plots.spec import FigureSpec

# Beyond so many marks a line is drawn as an image: each mark of an SVG has a hundred bytes.
_MOST_MARKS = 1_000

_BODY = """<main><div id="picture" role="group" aria-label="{words}">
{svg}<div id="frame"></div><div id="point"></div><div id="value"></div>
</div>
<p class="muted screen">Point at the picture for its values; press a name of the legend to hide or
show it. <span id="zoom">Draw a rectangle to see it larger.
<button type="button" id="whole" disabled>Show all of it</button></span></p></main>"""
_HERE = "writeamp.plots.backends"


def render(spec: FigureSpec, _kind: str) -> bytes:
    """Return the figure as the bytes of a self-contained HTML page."""
    with our_settings():
        figure = drawn(spec)
        _simplify(figure)
        parts = marked(figure, spec)
        buffer = io.BytesIO()
        figure.savefig(buffer, format="svg", metadata=METADATA["svg"])
    values = [
        (round(one.x, 5), round(one.y, 5), one.text, one.axes, one.series)
        for one in values_in(figure, spec, parts.series)
    ]
    return page(
        spec.title,
        _BODY.format(svg=inline_svg(buffer.getvalue()), words=text(spec.title)),
        styles=[source(_HERE, "figure.css")],
        scripts=[source(_HERE, "figure.js")],
        data={"values": values, "axes": parts.axes},
    )


def _simplify(figure: Figure) -> None:
    for axes in figure.axes:
        for line in axes.lines:
            if line.get_marker() != "none" and np.size(line.get_xdata()) > _MOST_MARKS:
                line.set_rasterized(True)
