"""Values with their intervals below each other, on one axis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from writeamp.reports.charts.svg import (
    CHARACTER,
    WIDTH,
    dot,
    drawing,
    fitting,
    label,
    line,
    rule,
    ticks,
)

_MOST_OF_NAMES = 300.0
_ROW, _FOOT = 28.0, 44.0


@dataclass(frozen=True)
class Estimate:
    """A value by its name, with its interval if it has one; faint where it may not hold."""

    name: str
    value: float
    bounds: tuple[float, float] | None = None
    is_faint: bool = False


def intervals(found: Sequence[Estimate], x_words: str) -> str:
    """Return the drawing, a row for each value."""
    reached = [end for one in found for end in (one.value, *(one.bounds or ()))]
    low, high = min(reached), max(reached)
    margin = 0.08 * (high - low) or 0.1 * abs(high) or 1
    low, high = low - margin, high + margin
    height = len(found) * _ROW + _FOOT
    return drawing(height, _parts(found, x_words, low, high, height), f"{x_words} of each row")


def _parts(
    found: Sequence[Estimate], x_words: str, low: float, high: float, height: float
) -> Iterator[str]:
    longest = max(len(one.name) for one in found)
    names = min(longest * CHARACTER + 18, _MOST_OF_NAMES)

    def x(value: float) -> float:
        return names + (value - low) / (high - low) * (WIDTH - 16 - names)

    foot = height - _FOOT
    for value in ticks(low, high, 5):
        yield rule(x(value), 0, x(value), foot)
        yield label(x(value), foot + 18, f"{value:.6g}", anchor="middle", muted=True)
    yield label((names + WIDTH) / 2, height - 6, x_words, anchor="middle", muted=True)
    for at, one in enumerate(found):
        middle = (at + 0.5) * _ROW
        color = "--host" if one.is_faint else "--series-1"
        yield label(
            names - 14, middle + 5, fitting(one.name, names - 14), anchor="end",
            muted=one.is_faint,
        )  # fmt: skip
        if one.bounds is not None:
            yield line([(x(one.bounds[0]), middle), (x(one.bounds[1]), middle)], color, width=3)
        yield dot(x(one.value), middle, color, f"{one.name}: {one.value:.4g}")
