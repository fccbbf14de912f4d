"""SVG figures as parts of an HTML page."""

from __future__ import annotations

import re

# The font that each text of a figure names is that of the page.
_FONT = re.compile(r"font-family: [^;\"]*;? ?")
# A hundredth of a point cannot be seen; in texts, outside tags, numbers stay whole.
_TAG = re.compile(r"<[^>]*>")
_DIGITS = re.compile(r"(\d\.\d\d)\d+")
_SPACE = re.compile(r">\s+<")


def inline_svg(drawn: bytes) -> str:
    """Return a drawn figure without what makes it twice as long as need be."""
    svg = drawn.decode()
    without_font = _FONT.sub("", svg[svg.index("<svg") :])
    shorter = _TAG.sub(lambda tag: _DIGITS.sub(r"\1", tag[0]), without_font)
    return _SPACE.sub(">\n<", shorter)
