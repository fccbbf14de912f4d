"""Icicle: layers below each other, each as wide as what it wrote, down to the flash."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from writeamp.reports.charts.svg import WIDTH, box, drawing, fitting, label

_HEIGHT, _GAP = 40.0, 6.0


@dataclass(frozen=True)
class Piece:
    """A part of a layer: its name, how much it is, its colour, and words about it."""

    name: str
    size: float
    color: str
    words: str


def icicle(layers: Sequence[Sequence[Piece]], words: str) -> str:
    """Return the drawing; each layer begins at the left, and the last is the widest."""
    widest = max((sum(piece.size for piece in layer) for layer in layers), default=0) or 1
    height = len(layers) * (_HEIGHT + _GAP) - _GAP + 2
    return drawing(height, _parts(layers, (WIDTH - 2) / widest), words)


def _parts(layers: Sequence[Sequence[Piece]], scale: float) -> Iterator[str]:
    for level, layer in enumerate(layers):
        x, y = 1.0, 1 + level * (_HEIGHT + _GAP)
        for piece in layer:
            width = piece.size * scale
            yield box(x, y, width, _HEIGHT, color=piece.color, title=piece.words)
            # Nothing stands to the right of the last piece, so that its name may reach beyond it.
            room = WIDTH - x if piece is layer[-1] else width
            yield label(x + 8, y + _HEIGHT / 2 + 5, fitting(piece.name, room - 16))
            x += width
