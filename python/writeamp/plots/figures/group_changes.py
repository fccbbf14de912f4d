"""Strips of group changes over time: groups created and merged, blocks moved."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from writeamp.plots.spec import Line, Strip
from writeamp.plots.style import SERIES_COLORS, outline

_CREATED_COLOR, _MERGED_COLOR, _MOVED_COLOR = SERIES_COLORS[2], SERIES_COLORS[1], SERIES_COLORS[6]

# Narrower bars would be finer than what a screen shows.
_MOST_BARS = 200
# So many ticks begin to lie on each other; then density shows as shade.
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
    """Describe the log of group changes; a strip in which nothing happened is left out.

    Args:
        created: when groups began, in drive writes, shape (creations,).
        merged: when groups were merged into others, shape (merges,).
        moved: when a group's movement operations were counted, shape (n,).
        moved_blocks: the blocks that they took from the group, shape (n,).
        intervals: how many bars movement operations are added up in, 200 at most.
        end: the end of the run, in drive writes.
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
    """Return the outline of bars of equal widths."""
    bars = max(1, min(intervals, _MOST_BARS))
    heights, edges = np.histogram(moved, bars, (0.0, end), weights=moved_blocks)
    return Line(
        *outline(edges.tolist(), heights.tolist()),
        _MOVED_COLOR,
        0.8,
        label=f"blocks moved: {int(moved_blocks.sum()):,}\n(a bar: {end / bars:.2g} drive writes)",
    )
