"""Skew of writes: the share of them that goes to the most written fifth of the pages."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from writeamp.statistics.power_sums import sum_of_powers

HOTTEST_SHARE = 0.2


def of_counts(
    counts: npt.NDArray[np.int64], group: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Return for each group the share of the counts that its greatest fifth of pages holds.

    The share is the Lorenz curve at 0.2 from the top, straight between pages.

    Args:
        counts: writes of each page, at least 1; shape (pages,).
        group: the group of each page; shape (pages,).

    Returns:
        The groups in ascending order and their skews, both of shape (groups,).
    """
    # One number that holds both sorts many times faster than two keys.
    above = int(counts.max(initial=0)) + 1
    group, less = np.divmod(np.sort(group * above + (above - 1 - counts)), above)
    counts = above - 1 - less
    first = np.flatnonzero(np.r_[True, np.diff(group) > 0][: len(group)])
    pages = np.diff(np.r_[first, len(group)])
    before = np.r_[0, np.cumsum(counts)]
    hottest = HOTTEST_SHARE * pages
    whole = np.floor(hottest).astype(np.int64)
    held = before[first + whole] - before[first] + (hottest - whole) * counts[first + whole]
    return group[first], held / (before[first + pages] - before[first])


def of_hot_cold(hot_fraction: float, hot_write_fraction: float) -> float:
    """Return the skew of Rosenblum's two kinds of pages, whichever of them is the hotter."""
    kinds = [(hot_fraction, hot_write_fraction), (1 - hot_fraction, 1 - hot_write_fraction)]
    (hot, writes), (cold, rest) = sorted(kinds, key=lambda kind: kind[1] / kind[0], reverse=True)
    within_hot = min(HOTTEST_SHARE / hot, 1.0) * writes
    return within_hot + max(HOTTEST_SHARE - hot, 0.0) / cold * rest


def of_zipf(exponent: float, slots: int) -> float:
    """Return the skew of probabilities in proportion to rank^−exponent over so many slots."""
    hottest = HOTTEST_SHARE * slots
    whole = int(hottest)
    total, held = sum_of_powers(exponent, slots), sum_of_powers(exponent, whole)
    return float((held + (hottest - whole) * (whole + 1.0) ** -exponent) / total)
