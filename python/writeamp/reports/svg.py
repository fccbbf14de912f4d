"""Pieces of SVG: shapes in the page's colours, texts, and round numbers for axes."""

from __future__ import annotations

import math
from collections.abc import Iterable

from writeamp.pages.escaping import text

# Of a drawing, in units that are pixels at its full width.
WIDTH = 720
SIZE = 14
# About the width of a character of the page's font at SIZE.
CHARACTER = 7.6


def drawing(height: float, parts: Iterable[str], words: str) -> str:
    """Return a drawing of the full width; `words` say what it shows to who cannot see it."""
    return (
        f'<svg viewBox="0 0 {WIDTH} {height:.0f}" width="{WIDTH}" height="{height:.0f}" '
        f'font-size="{SIZE}" role="img" aria-label="{text(words)}">{"".join(parts)}</svg>'
    )


def box(x: float, y: float, width: float, height: float, *, color: str, title: str = "") -> str:
    """Return a tinted rectangle with a rim; `color` is a variable of the page's style."""
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" height="{height:.1f}" '
        f'style="fill:var({color});fill-opacity:.3;stroke:var({color})">{_title(title)}</rect>'
    )


def filled(x: float, y: float, width: float, height: float, *, color: str, title: str = "") -> str:
    """Return a rectangle of one colour."""
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" height="{height:.1f}" '
        f'style="fill:var({color})">{_title(title)}</rect>'
    )


def line(points: Iterable[tuple[float, float]], color: str, *, width: float = 1.5) -> str:
    """Return a line through points."""
    at = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return (
        f'<polyline points="{at}" style="fill:none;stroke:var({color});stroke-width:{width}'
        ';stroke-linejoin:round"/>'
    )


def rule(x1: float, y1: float, x2: float, y2: float, color: str = "--grid") -> str:
    """Return a straight line."""
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
        f'style="stroke:var({color})"/>'
    )


def dashed(x1: float, y1: float, x2: float, y2: float, color: str) -> str:
    """Return a dashed straight line."""
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
        f'style="stroke:var({color});stroke-dasharray:5 4"/>'
    )


def dot(x: float, y: float, color: str, title: str = "") -> str:
    """Return a dot."""
    return (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" style="fill:var({color})">'
        f"{_title(title)}</circle>"
    )


def label(x: float, y: float, words: str, *, anchor: str = "start", muted: bool = False) -> str:
    """Return a text whose foot is at y; anchored at its start, middle or end."""
    style = ' style="fill:var(--muted)"' if muted else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{style}>{text(words)}</text>'


def fitting(words: str, width: float) -> str:
    """Return words as far as they fit in a width; nothing if hardly any would."""
    room = int(width / CHARACTER)
    if len(words) <= room:
        return words
    return f"{words[: room - 1].rstrip()}…" if room > 4 else ""


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Return round numbers between two ends, about as many as asked for."""
    span = high - low
    if not (math.isfinite(span) and span > 0):
        return [low]
    rough = span / most
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(one * unit for one in (1, 2, 2.5, 5, 10) if one * unit >= rough * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [at * step for at in range(first, last + 1)]


def _title(words: str) -> str:
    return f"<title>{text(words)}</title>" if words else ""
