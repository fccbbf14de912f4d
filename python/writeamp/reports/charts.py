"""Drawings of reports: SVG without a library, in the colours of the page."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from writeamp.reports.svg import (
    CHARACTER,
    SIZE,
    WIDTH,
    box,
    dashed,
    dot,
    drawing,
    filled,
    fitting,
    label,
    line,
    rule,
    ticks,
)

# Edges of what axes enclose: the left and right in a drawing, the upper and lower from its ends.
_LEFT, _RIGHT, _TOP, _BOTTOM = 64.0, WIDTH - 12.0, 12.0, 46.0
_HISTOGRAM_HEIGHT, _OVER_TIME_HEIGHT = 240.0, 300.0
_ESTIMATE_HEIGHT, _AXIS_HEIGHT, _MOST_NAMES_WIDTH = 28.0, 44.0, 300.0
_SHADES, _KEY_HEIGHT = 10, 34.0
_LAYER_HEIGHT, _LAYER_GAP = 40.0, 6.0


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
        return _LEFT + (value - self.x_low) / ((self.x_high - self.x_low) or 1) * (_RIGHT - _LEFT)

    def y(self, value: float) -> float:
        """Return the place of a y value."""
        foot = self.height - _BOTTOM
        return foot - (value - self.y_low) / ((self.y_high - self.y_low) or 1) * (foot - _TOP)

    def frame(self, x_words: str, y_words: str, *, is_whole: bool = False) -> Iterator[str]:
        """Yield the lines, numbers and names of both axes; on those of whole numbers no others."""
        foot = self.height - _BOTTOM
        for value in _shown(self.y_low, self.y_high, 5, is_whole):
            at = self.y(value)
            yield rule(_LEFT, at, _RIGHT, at)
            yield label(_LEFT - 8, at + SIZE / 3, f"{value:.6g}", anchor="end", muted=True)
        for value in _shown(self.x_low, self.x_high, 7, is_whole):
            yield label(self.x(value), foot + 18, f"{value:.6g}", anchor="middle", muted=True)
        yield rule(_LEFT, foot, _RIGHT, foot, "--faint")
        yield label((_LEFT + _RIGHT) / 2, self.height - 6, x_words, anchor="middle", muted=True)
        middle = (_TOP + foot) / 2
        yield (
            f'<g transform="rotate(-90 14 {middle:.0f})">'
            f"{label(14, middle, y_words, anchor='middle', muted=True)}</g>"
        )


def _shown(low: float, high: float, most: int, is_whole: bool) -> list[float]:
    return [one for one in ticks(low, high, most) if not is_whole or one == round(one)]


def histogram(edges: Sequence[float], counts: Sequence[float], x_words: str, y_words: str) -> str:
    """Return the drawing; bar i counts the whole numbers from edge i on, below edge i + 1."""
    axes = Axes(edges[0] - 0.5, edges[-1] - 0.5, 0, 1.05 * (max(counts) or 1), _HISTOGRAM_HEIGHT)
    bars = [
        filled(
            axes.x(low - 0.5),
            axes.y(count),
            max(axes.x(high) - axes.x(low) - 1, 0.8),
            axes.y(0) - axes.y(count),
            color="--series-1",
            title=f"{low:.6g}: {count:,.6g} {y_words}" if high - low == 1 else "",
        )
        for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)
        if count
    ]
    most = counts.index(max(counts))
    words = f"Histogram of {x_words}; most {y_words} at {edges[most]:.6g}"
    return drawing(_HISTOGRAM_HEIGHT, [*axes.frame(x_words, y_words, is_whole=True), *bars], words)


def over_time(
    x: Sequence[float],
    y: Sequence[float],
    *,
    x_words: str,
    mean: float | None,
    warmup: float,
) -> str:
    """Return the drawing.

    Args:
        x: where each interval ends, rising.
        y: write amplification of each, as many.
        x_words: what x is.
        mean: of what was counted; None of none.
        warmup: the x up to which nothing was counted.
    """
    top = 1.06 * max(*y, mean or 0)
    axes = Axes(0, x[-1], 0, top, _OVER_TIME_HEIGHT)
    words = f"Line of write amplification over {x_words}, from {y[0]:.4g} to {y[-1]:.4g}"
    points = list(zip(x, y, strict=True))
    parts = _line_parts(axes, points, x_words=x_words, mean=mean, warmup=warmup)
    return drawing(_OVER_TIME_HEIGHT, parts, words)


def _line_parts(
    axes: Axes,
    points: Sequence[tuple[float, float]],
    *,
    x_words: str,
    mean: float | None,
    warmup: float,
) -> Iterator[str]:
    if warmup > 0:
        foot = _OVER_TIME_HEIGHT - _BOTTOM
        yield (
            f'<rect x="{axes.x(0):.1f}" y="{_TOP}" width="{axes.x(warmup) - axes.x(0):.1f}" '
            f'height="{foot - _TOP}" style="fill:var(--surface)"/>'
        )
        # Words that end where the warm-up does, or begin there where it is too short for them.
        is_long = axes.x(warmup) - axes.x(0) > 170
        anchor, beside = ("end", -6) if is_long else ("start", 6)
        yield label(
            axes.x(warmup) + beside, foot - 8, "warm-up, not counted", anchor=anchor, muted=True
        )
    yield from axes.frame(x_words, "write amplification")
    yield line([(axes.x(at), axes.y(wa)) for at, wa in points], "--series-1")
    if mean is not None:
        yield dashed(axes.x(warmup), axes.y(mean), _RIGHT, axes.y(mean), "--ink")


@dataclass(frozen=True)
class IntervalRow:
    """A value by its name, with its interval if it has one; faint where it may not hold."""

    name: str
    value: float
    bounds: tuple[float, float] | None = None
    is_faint: bool = False


def intervals(found: Sequence[IntervalRow], x_words: str) -> str:
    """Return the drawing, a row for each value."""
    reached = [end for one in found for end in (one.value, *(one.bounds or ()))]
    low, high = min(reached), max(reached)
    margin = 0.08 * (high - low) or 0.1 * abs(high) or 1
    low, high = low - margin, high + margin
    height = len(found) * _ESTIMATE_HEIGHT + _AXIS_HEIGHT
    return drawing(
        height, _interval_parts(found, x_words, low, high, height), f"{x_words} of each row"
    )


def _interval_parts(
    found: Sequence[IntervalRow], x_words: str, low: float, high: float, height: float
) -> Iterator[str]:
    longest = max(len(one.name) for one in found)
    names = min(longest * CHARACTER + 18, _MOST_NAMES_WIDTH)

    def x(value: float) -> float:
        return names + (value - low) / (high - low) * (WIDTH - 16 - names)

    foot = height - _AXIS_HEIGHT
    for value in ticks(low, high, 5):
        yield rule(x(value), 0, x(value), foot)
        yield label(x(value), foot + 18, f"{value:.6g}", anchor="middle", muted=True)
    yield label((names + WIDTH) / 2, height - 6, x_words, anchor="middle", muted=True)
    for at, one in enumerate(found):
        middle = (at + 0.5) * _ESTIMATE_HEIGHT
        color = "--host" if one.is_faint else "--series-1"
        yield label(
            names - 14, middle + 5, fitting(one.name, names - 14), anchor="end",
            muted=one.is_faint,
        )  # fmt: skip
        if one.bounds is not None:
            yield line([(x(one.bounds[0]), middle), (x(one.bounds[1]), middle)], color, width=3)
        yield dot(x(one.value), middle, color, f"{one.name}: {one.value:.4g}")


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
    height = math.ceil(len(values) / columns) * side + _KEY_HEIGHT
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


@dataclass(frozen=True)
class LayerPart:
    """A part of a layer: its name, how much it is, its colour, and words about it."""

    name: str
    size: float
    color: str
    words: str


def icicle(layers: Sequence[Sequence[LayerPart]], words: str) -> str:
    """Return the drawing; each layer begins at the left, and the last is the widest."""
    widest = max((sum(piece.size for piece in layer) for layer in layers), default=0) or 1
    height = len(layers) * (_LAYER_HEIGHT + _LAYER_GAP) - _LAYER_GAP + 2
    return drawing(height, _icicle_parts(layers, (WIDTH - 2) / widest), words)


def _icicle_parts(layers: Sequence[Sequence[LayerPart]], scale: float) -> Iterator[str]:
    for level, layer in enumerate(layers):
        x, y = 1.0, 1 + level * (_LAYER_HEIGHT + _LAYER_GAP)
        for piece in layer:
            width = piece.size * scale
            yield box(x, y, width, _LAYER_HEIGHT, color=piece.color, title=piece.words)
            # Nothing stands to the right of the last piece, so that its name may reach beyond it.
            room = WIDTH - x if piece is layer[-1] else width
            yield label(x + 8, y + _LAYER_HEIGHT / 2 + 5, fitting(piece.name, room - 16))
            x += width
