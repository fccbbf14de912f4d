"""Active learning: measure next the points (workloads) where the model is least certain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from writeamp.learn.blackbox.designs import grid_points, once_each
from writeamp.learn.blackbox.space import CHARACTERISTICS, WorkloadPoint

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

# Number of grid points that are candidates, and how many of them are drawn for each batch.
_CANDIDATES = 4000
_CANDIDATES_OF_A_BATCH = 1500
# The first points come from the design `grid`: their share of all points, and their least number.
_FIRST_SHARE = 0.2
_LEAST_FIRST = 8
# Size of a batch as a share of the points measured so far. Each batch needs a fit of the model,
# so batches grow.
_BATCH_SHARE = 0.1
# Least number of measured points to which the model can be fitted.
_LEAST_KNOWN = 2
# scikit-learn accepts only seeds below this, so seeds are reduced to it.
_SEEDS = 2**32


class PointLearner(Protocol):
    """Interface of models that choose which candidates to measure next."""

    def least_known(self, measured: F64, target: F64, candidates: F64, count: int) -> I64:
        """Return which of the candidates should be measured next.

        Args:
            measured: characteristics of the measured points; shape (n, 8).
            target: values measured at these points, above 0; shape (n,).
            candidates: characteristics of the candidates; shape (m, 8).
            count: number of candidates to choose.

        Returns:
            Row numbers of the chosen candidates, the most useful first; shape (count,).
        """


class ProcessLearner:
    """Learner by a Gaussian process: it chooses the points of greatest uncertainty."""

    def __init__(self, seed: int) -> None:
        """Set the seed of the random draws.

        Raises:
            WriteampError: scikit-learn is not installed.
        """
        from writeamp.learn.blackbox.models.learners import make_model  # noqa: PLC0415 (an extra)

        process = make_model("gaussian-process", log_target=True, names=CHARACTERISTICS)
        self._process = process.set_params(random_state=seed % _SEEDS)

    def least_known(self, measured: F64, target: F64, candidates: F64, count: int) -> I64:
        """Return the rows of the least certain candidates.

        Each choice assumes that the candidates chosen before it are already measured.
        """
        rows: I64 = self._process.fit(measured, target).least_known(candidates, count)
        return rows


def first_points(points: int, seed: int) -> list[WorkloadPoint]:
    """Return the points to measure before the first fit of the model."""
    first = min(points, max(_LEAST_FIRST, round(_FIRST_SHARE * points)))
    return list(grid_points(first, seed))


def candidates(seed: int) -> list[WorkloadPoint]:
    """Return the candidates: grid points from which the next points to measure are chosen."""
    return list(grid_points(_CANDIDATES, seed))


def next_points(
    measured_points: Sequence[WorkloadPoint],
    target: F64,
    pool: Sequence[WorkloadPoint],
    *,
    most: int,
    learner: PointLearner,
) -> list[WorkloadPoint]:
    """Return the next batch of points to measure from the pool, the most useful first.

    Args:
        measured_points: points that were measured without failure; if there are fewer than two,
            the batch is the pool's first point that is not measured.
        target: values measured at these points, above 0; shape (n,).
        pool: the candidates.
        most: number of points left to measure.
        learner: chooses the points.
    """
    measured = set(measured_points)
    left = [point for point in once_each(pool) if point not in measured]
    if len(measured_points) < _LEAST_KNOWN:
        return left[: min(most, 1)]
    # The number of measured points is the seed, so each batch draws other candidates.
    drawn = np.random.default_rng(len(measured_points)).permutation(len(left))[
        :_CANDIDATES_OF_A_BATCH
    ]
    count = min(most, len(drawn), max(1, round(_BATCH_SHARE * len(measured_points))))
    if count == 0:
        return []
    candidate_values = _values([left[at] for at in drawn])
    return [
        left[drawn[at]]
        for at in learner.least_known(_values(measured_points), target, candidate_values, count)
    ]


def _values(points: Sequence[WorkloadPoint]) -> F64:
    return np.array([[getattr(point, name) for name in CHARACTERISTICS] for point in points], float)
