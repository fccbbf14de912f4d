"""Line of write amplification over the writes of a run, with its mean and what went before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from writeamp.reports.charts.axes import BOTTOM, RIGHT, TOP, Axes
from writeamp.reports.charts.svg import dashed, drawing, label, line

_HEIGHT = 300.0


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
    axes = Axes(0, x[-1], 0, top, _HEIGHT)
    words = f"Line of write amplification over {x_words}, from {y[0]:.4g} to {y[-1]:.4g}"
    points = list(zip(x, y, strict=True))
    parts = _parts(axes, points, x_words=x_words, mean=mean, warmup=warmup)
    return drawing(_HEIGHT, parts, words)


def _parts(
    axes: Axes,
    points: Sequence[tuple[float, float]],
    *,
    x_words: str,
    mean: float | None,
    warmup: float,
) -> Iterator[str]:
    if warmup > 0:
        foot = _HEIGHT - BOTTOM
        yield (
            f'<rect x="{axes.x(0):.1f}" y="{TOP}" width="{axes.x(warmup) - axes.x(0):.1f}" '
            f'height="{foot - TOP}" style="fill:var(--surface)"/>'
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
        yield dashed(axes.x(warmup), axes.y(mean), RIGHT, axes.y(mean), "--ink")
