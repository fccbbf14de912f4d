"""Skew of writes: the share that goes to the pages that are written most."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

_POINTS = 200


def share_of_hottest(
    start: npt.NDArray[Any], count: npt.NDArray[Any], pages: int
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return shares of the written pages, the most written first, and of the writes to them.

    Args:
        start: first page of each write; shape (writes,), like `count`.
        count: pages of each.
        pages: above all page numbers.
    """
    steps = np.bincount(start, minlength=pages + 1) - np.bincount(
        start.astype(np.int64) + count, minlength=pages + 1
    )
    writes = np.cumsum(steps[:pages])
    hottest = np.sort(writes[writes > 0])[::-1]
    at = np.unique(np.linspace(0, hottest.size, _POINTS + 1).astype(int))
    sums = np.concatenate([[0], np.cumsum(hottest)])
    return at / hottest.size, sums[at] / sums[-1]
