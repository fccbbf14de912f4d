"""Measures of curves: how straight they are, and how far one lies above another."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]


def nonlinearity(x: Sequence[float], y: Sequence[float]) -> float:
    """Return how far points are from a straight line: 1 - R² of the best one."""
    slope, constant = np.polyfit(x, y, 1)
    left = np.asarray(y) - (slope * np.asarray(x) + constant)
    return float(left @ left / np.square(np.asarray(y) - np.mean(y)).sum())


def slope(x: Sequence[float], y: Sequence[float]) -> float:
    """Return the slope of the straight line through the points."""
    return float(np.polyfit(x, y, 1)[0])


def largest_ratio(one: Sequence[float], other: Sequence[float]) -> float:
    """Return the largest ratio of two curves at the same place."""
    return max(a / b for a, b in zip(one, other, strict=True))


def smallest_ratio(one: Sequence[float], other: Sequence[float]) -> float:
    """Return the smallest ratio of two curves at the same place."""
    return min(a / b for a, b in zip(one, other, strict=True))


def mean_ratio(one: Sequence[float], other: Sequence[float]) -> float:
    """Return the geometric mean of the ratios of two curves."""
    return math.exp(float(np.mean([math.log(a / b) for a, b in zip(one, other, strict=True)])))
