"""Sobol indices of a full grid: analysis of variance over all of its cells.

Each value of an axis counts alike. The first-order index of axis i is Var(E[y|x_i])/Var(y), the
total one 1 - Var(E[y|x_j, j≠i])/Var(y) (Saltelli et al., Comput. Phys. Commun. 181 (2010) 259,
Eqs. 1 and 4), here of finitely many cells, so that nothing is estimated by sampling.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from writeamp.statistics.replicas import student_interval
from writeamp.studies.sweep.views.indices.index import Index, Measure


def of_full_grid(names: Sequence[str], y: npt.NDArray[np.float64]) -> list[Index]:
    """Return both indices of each axis, in the mean of replicas, with Student's intervals.

    Args:
        names: of the axes.
        y: shape (replicas, values of the first axis, values of the second, …); it varies.
    """
    found = []
    for at, name in enumerate(names):
        first = np.array([_first_order(one, at) for one in y])
        total = np.array([_total(one, at) for one in y])
        found.append(_over_replicas(name, "first_order", first))
        found.append(_over_replicas(name, "total", total))
    return found


def _first_order(y: npt.NDArray[np.float64], axis: int) -> float:
    others = tuple(at for at in range(y.ndim) if at != axis)
    return _share(y.mean(axis=others).var(), y.var())


def _total(y: npt.NDArray[np.float64], axis: int) -> float:
    return _share(y.var() - y.mean(axis=axis).var(), y.var())


def _share(part: float, whole: float) -> float:
    """Return a share of a variance; none of a replica that is the same everywhere."""
    return float(part / whole) if whole > 0 else 0.0


def _over_replicas(name: str, measure: Measure, values: npt.NDArray[np.float64]) -> Index:
    low, high = student_interval(values)
    # NaN, of one replica, is kept.
    low, high = (end if math.isnan(end) else min(max(end, 0.0), 1.0) for end in (low, high))
    return Index(name, measure, float(values.mean()), low, high)
