"""Data for a report's drawings, thinned out: WA over time and the state of blocks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from writeamp.plots.figures.latency import DirectionSeries

_DIGITS = 6
# Maximum numbers of bars of a histogram and of cells of the wear map; more would be
# indistinguishable.
_MOST_BARS = 256
_MOST_CELLS = 1024
# Ratio of neighbouring latencies that a drawing distinguishes, and the shortest one in µs.
_STEP, _LEAST_US = 1.02, 1e-3


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


def latencies(
    directions: Iterable[DirectionSeries], cliff_gb: Sequence[float], cliff_mb_s: Sequence[float]
) -> dict[str, Any]:
    """Return the data of latencies and bandwidth over virtual time; {} without requests.

    Args:
        directions: reads, writes, or both.
        cliff_gb: gigabytes written since an idle pause, shape (n,); empty without a cliff.
        cliff_mb_s: bandwidth there in MB/s, shape (n,).
    """
    drawn = [_thinned(direction) for direction in directions]
    if not drawn:
        return {}
    gb, mb_s = (_short(np.asarray(values, np.float64)) for values in (cliff_gb, cliff_mb_s))
    return {"latencies": {"directions": drawn, "cliff_gb": gb, "cliff_mb_s": mb_s}}


def _thinned(direction: DirectionSeries) -> dict[str, Any]:
    """Return a direction as JSON types, with bins of its histogram within 2% joined."""
    upper, counts = (np.asarray(of, np.float64) for of in (direction.upper_us, direction.counts))
    upper, counts = upper[counts > 0], counts[counts > 0]
    classes = np.floor(np.log(np.maximum(upper, _LEAST_US)) / np.log(_STEP))
    starts = np.flatnonzero(np.diff(classes, prepend=-np.inf))
    ends = np.append(starts[1:], counts.size) - 1
    spans = ("time_s", "mb_s", "mean_us")
    return {
        "label": direction.label,
        "upper_us": _short(upper[ends]),
        "counts": np.add.reduceat(counts, starts).tolist(),
        **{name: _short(np.asarray(getattr(direction, name), np.float64)) for name in spans},
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


def _short(values: npt.NDArray[np.float64]) -> list[float | None]:
    """Return numbers rounded to the digits that a drawing needs; None for NaN, which is a gap."""
    return [None if np.isnan(value) else float(f"{value:.{_DIGITS}g}") for value in values]
