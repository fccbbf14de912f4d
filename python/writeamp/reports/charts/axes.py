"""Axes of a drawing: places of values, and lines and numbers at round ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from writeamp.reports.charts.svg import SIZE, WIDTH, label, rule, ticks

LEFT, RIGHT, TOP, BOTTOM = 64.0, WIDTH - 12.0, 12.0, 46.0


@dataclass(frozen=True)
class Axes:
    """Two axes: x from left to right, y upwards, between their ends."""

    x_low: float
    x_high: float
    y_low: float
    y_high: float
    height: float

    def x(self, value: float) -> float:
        """Return the place of an x value."""
        return LEFT + (value - self.x_low) / ((self.x_high - self.x_low) or 1) * (RIGHT - LEFT)

    def y(self, value: float) -> float:
        """Return the place of a y value."""
        foot = self.height - BOTTOM
        return foot - (value - self.y_low) / ((self.y_high - self.y_low) or 1) * (foot - TOP)

    def frame(self, x_words: str, y_words: str, *, is_whole: bool = False) -> Iterator[str]:
        """Yield the lines, numbers and names of both axes; on those of whole numbers no others."""
        foot = self.height - BOTTOM
        for value in _shown(self.y_low, self.y_high, 5, is_whole):
            at = self.y(value)
            yield rule(LEFT, at, RIGHT, at)
            yield label(LEFT - 8, at + SIZE / 3, f"{value:.6g}", anchor="end", muted=True)
        for value in _shown(self.x_low, self.x_high, 7, is_whole):
            yield label(self.x(value), foot + 18, f"{value:.6g}", anchor="middle", muted=True)
        yield rule(LEFT, foot, RIGHT, foot, "--faint")
        yield label((LEFT + RIGHT) / 2, self.height - 6, x_words, anchor="middle", muted=True)
        middle = (TOP + foot) / 2
        yield (
            f'<g transform="rotate(-90 14 {middle:.0f})">'
            f"{label(14, middle, y_words, anchor='middle', muted=True)}</g>"
        )


def _shown(low: float, high: float, most: int, is_whole: bool) -> list[float]:
    return [one for one in ticks(low, high, most) if not is_whole or one == round(one)]
