"""Means over replicas, which differ only by seed, with Student's intervals."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit  # type: ignore[import-untyped]

from writeamp.statistics.batches import CONFIDENCE

_Floats: TypeAlias = npt.NDArray[np.float64]


def student_intervals(values: _Floats) -> tuple[_Floats, _Floats]:
    """Return the 95% bounds of the mean over the first axis, the replicas; NaN for one replica."""
    count, mean = values.shape[0], values.mean(axis=0)
    if count < 2:
        return np.full_like(mean, math.nan), np.full_like(mean, math.nan)
    scatter = values.std(axis=0, ddof=1) / math.sqrt(count)
    half_width = float(stdtrit(count - 1, (1 + CONFIDENCE) / 2)) * scatter
    return mean - half_width, mean + half_width


def student_interval(values: _Floats) -> tuple[float, float]:
    """Return the 95% bounds of the mean of a vector."""
    low, high = student_intervals(values)
    return float(low), float(high)
