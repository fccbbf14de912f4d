"""Data for a report's drawings, thinned out: WA over time and the state of blocks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

_DIGITS = 6
# Maximum numbers of bars of a histogram and of cells of the wear map; more would be
# indistinguishable.
_MOST_BARS = 256
_MOST_CELLS = 1024


def over_time(
    x: npt.ArrayLike, wa: npt.ArrayLike, *, x_words: str, warmup: float, mean: float
) -> dict[str, Any]:
    """Return the data of WA over time, or an empty table if there are fewer than two points.

    Args:
        x: end of each interval, increasing, shape (n,).
        wa: WA in each interval, shape (n,).
        x_words: label of x.
        warmup: x at the end of the warm-up.
        mean: WA after the warm-up.
    """
    ends = np.asarray(x, np.float64)
    if ends.size < 2:
        return {}
    return {
        "over_time": {
            "x": _short(ends),
            "wa": _short(np.asarray(wa, np.float64)),
            "x_words": x_words,
            "warmup": float(warmup),
            "mean": float(mean),
        }
    }


def valid_pages(histogram: npt.ArrayLike) -> dict[str, Any]:
    """Return the number of blocks by valid pages; element i of the histogram is for i pages."""
    return {"valid_pages": _binned(np.asarray(histogram, np.float64), 0)}


def wear_of_blocks(erases: npt.ArrayLike) -> dict[str, Any]:
    """Return the erases of each block, or means of neighbouring blocks if there are many."""
    counts = np.asarray(erases, np.float64).ravel()
    joined = -(-counts.size // _MOST_CELLS)
    starts = np.arange(0, counts.size, joined)
    sizes = np.diff(starts, append=counts.size)
    return {
        "wear": {
            "erases": _short(np.add.reduceat(counts, starts) / sizes),
            "blocks_of_a_cell": joined,
            "blocks": counts.size,
            "least": float(counts.min()),
            "mean": float(counts.mean()),
            "most": float(counts.max()),
        }
    }


def erase_counts(blocks: Mapping[int, int]) -> dict[str, Any]:
    """Return the number of blocks by erase count."""
    if not blocks:
        return {}
    least, most = min(blocks), max(blocks)
    counts = np.zeros(most - least + 1)
    for erases, number in blocks.items():
        counts[erases - least] = number
    return {"erase_counts": _binned(counts, least)}


def _binned(counts: npt.NDArray[np.float64], first: int) -> dict[str, Any]:
    """Sum the counts of the numbers `first`, `first` + 1, … in at most 256 bins of equal width."""
    width = max(1, -(-counts.size // _MOST_BARS))
    starts = np.arange(0, counts.size, width)
    edges = [*(first + starts).tolist(), first + int(starts[-1]) + width]
    return {"edges": edges, "counts": np.add.reduceat(counts, starts).tolist()}


def _short(values: npt.NDArray[np.float64]) -> list[float]:
    """Return numbers rounded to the digits that a drawing needs."""
    return [float(f"{value:.{_DIGITS}g}") for value in values]
