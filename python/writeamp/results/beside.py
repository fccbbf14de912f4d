"""Drawings of a report beside its document: WA over time and the state of blocks, thinned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

_DIGITS = 6
# What an eye can tell apart.
_MOST_BARS = 256
_MOST_CELLS = 1024


def over_time(
    x: npt.ArrayLike, wa: npt.ArrayLike, *, x_words: str, warmup: float, mean: float
) -> dict[str, Any]:
    """Return WA at rising x, shape (n,) each; nothing of no points.

    Args:
        x: where each interval ends.
        wa: in it.
        x_words: what x is.
        warmup: the x up to which nothing was counted.
        mean: WA of what was counted.
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
    """Return how many blocks hold how many valid pages; element i of the histogram counts i."""
    return {"valid_pages": _binned(np.asarray(histogram, np.float64), 0)}


def wear_of_blocks(erases: npt.ArrayLike) -> dict[str, Any]:
    """Return the erases of each block, or the mean of as many neighbours as an eye cannot tell."""
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
    """Return how many blocks were erased how often."""
    if not blocks:
        return {}
    least, most = min(blocks), max(blocks)
    counts = np.zeros(most - least + 1)
    for erases, number in blocks.items():
        counts[erases - least] = number
    return {"erase_counts": _binned(counts, least)}


def _binned(counts: npt.NDArray[np.float64], first: int) -> dict[str, Any]:
    """Return counts of whole numbers from `first` on, in few enough bins of equal width."""
    width = max(1, -(-counts.size // _MOST_BARS))
    starts = np.arange(0, counts.size, width)
    edges = [*(first + starts).tolist(), first + int(starts[-1]) + width]
    return {"edges": edges, "counts": np.add.reduceat(counts, starts).tolist()}


def _short(values: npt.NDArray[np.float64]) -> list[float]:
    """Return numbers with as many digits as a drawing shows."""
    return [float(f"{value:.{_DIGITS}g}") for value in values]
