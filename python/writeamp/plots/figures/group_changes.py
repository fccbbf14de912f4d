"""Strips of changes of page groups over time: groups created and merged, blocks moved."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from writeamp.plots.spec import Line, Strip
from writeamp.plots.style import SERIES_COLORS, outline

_CREATED_COLOR, _MERGED_COLOR, _MOVED_COLOR = SERIES_COLORS[2], SERIES_COLORS[1], SERIES_COLORS[6]

# Maximum number of bars; more bars would be narrower than the resolution of a screen.
_MOST_BARS = 200
# If there are more ticks, they overlap, so they are drawn transparent to show their density.
_OPAQUE_TICKS = 300
_LEAST_OPACITY = 0.05


def group_strips(
    created: npt.NDArray[np.float64],
    merged: npt.NDArray[np.float64],
    moved: npt.NDArray[np.float64],
    moved_blocks: npt.NDArray[np.uint64],
    *,
    intervals: int,
    end: float,
) -> tuple[Strip, ...]:
    """Describe changes of page groups over drive writes; empty strips are left out.

    Args:
        created: times at which groups were created, in drive writes, shape (creations,).
        merged: times at which groups were merged into others, in drive writes, shape (merges,).
        moved: times of movement operations, in drive writes, shape (n,).
        moved_blocks: blocks that each operation took from a group, shape (n,).
        intervals: number of bars for blocks moved, at most 200.
        end: end of the run, in drive writes.
    """
    strips = []
    if created.size or merged.size:
        strips.append(
            Strip(
                "groups",
                (
                    _ticks(created, 1, _CREATED_COLOR, "groups created"),
                    _ticks(merged, 0, _MERGED_COLOR, "groups merged away"),
                ),
                rows=("merged", "created"),
            )
        )
    if moved.size:
        strips.append(
            Strip("blocks\nmoved", (_bars(moved, moved_blocks, intervals, end),), filled=True)
        )
    return tuple(strips)


def _ticks(at: npt.NDArray[np.float64], row: int, color: str, what: str) -> Line:
    opacity = min(1.0, max(_LEAST_OPACITY, _OPAQUE_TICKS / max(1, at.size)))
    label = f"{what}: {at.size:,}"
    return Line(at.tolist(), [row] * at.size, color, 0.0, opacity, label=label, marker="tick")


def _bars(
    moved: npt.NDArray[np.float64],
    moved_blocks: npt.NDArray[np.uint64],
    intervals: int,
    end: float,
) -> Line:
    """Return the outline of a histogram: blocks moved over drive writes."""
    bars = max(1, min(intervals, _MOST_BARS))
    heights, edges = np.histogram(moved, bars, (0.0, end), weights=moved_blocks)
    return Line(
        *outline(edges.tolist(), heights.tolist()),
        _MOVED_COLOR,
        0.8,
        label=f"blocks moved: {int(moved_blocks.sum()):,}\n"
        f"(each bar: {end / bars:.2g} drive writes)",
    )
