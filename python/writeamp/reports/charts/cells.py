"""Map of cells, coloured from light to dark by their values."""

from __future__ import annotations

import math
from collections.abc import Sequence

from writeamp.reports.charts.svg import SIZE, WIDTH, drawing, label

_SHADES = 10
_KEY = 34.0


def cells(values: Sequence[float], words: str) -> str:
    """Return the drawing: values in rows from the upper left, and a key from least to most."""
    columns = min(len(values), 64)
    side = WIDTH / columns if columns > 24 else 24.0
    least, most = min(values), max(values)
    shades: dict[int, list[str]] = {}
    for at, value in enumerate(values):
        share = (value - least) / (most - least) if most > least else 0.5
        x, y = at % columns * side, at // columns * side
        size = side - 1
        shades.setdefault(min(int(share * _SHADES), _SHADES - 1), []).append(
            f"M{x:.1f} {y:.1f}h{size:.1f}v{size:.1f}h-{size:.1f}z"
        )
    paths = [
        f'<path d="{"".join(squares)}" style="fill:{_color(shade)}"/>'
        for shade, squares in sorted(shades.items())
    ]
    height = math.ceil(len(values) / columns) * side + _KEY
    return drawing(height, [*paths, *_key(height, least, most)], words)


def _color(shade: int) -> str:
    part = round(100 * shade / (_SHADES - 1))
    return f"color-mix(in srgb, var(--heat-high) {part}%, var(--heat-low))"


def _key(height: float, least: float, most: float) -> list[str]:
    if least == most:
        return [label(0, height - 6, f"all {least:.6g}", muted=True)]
    first = f"{least:.6g}"
    start = 8 * len(first) + 10
    squares = [
        f'<rect x="{start + 16 * shade}" y="{height - 20}" width="16" height="{SIZE}" '
        f'style="fill:{_color(shade)}"/>'
        for shade in range(_SHADES)
    ]
    end = start + 16 * _SHADES + 8
    return [label(0, height - 8, first, muted=True), *squares,
            label(end, height - 8, f"{most:.6g}", muted=True)]  # fmt: skip
