"""Active learning: measure next the points where the model is least certain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from writeamp.learn.blackbox.designs import grid_points, once_each
from writeamp.learn.blackbox.space import CHARACTERISTICS, WorkloadPoint

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

# Points of the grid that are candidates, and those of them that are drawn for each batch.
_CANDIDATES = 4000
_CANDIDATES_OF_A_BATCH = 1500
# Share of all points that the design `grid` gives first, and their least number.
_FIRST_SHARE = 0.2
_LEAST_FIRST = 8
# Points of a batch, as a share of those measured; each batch costs a fit.
_BATCH_SHARE = 0.1
# A model needs at least this many points.
_LEAST_KNOWN = 2
# scikit-learn takes seeds below this.
_SEEDS = 2**32


class PointLearner(Protocol):
    """Interface of models that choose which candidates to measure next."""

    def least_known(self, measured: F64, target: F64, candidates: F64, count: int) -> I64:
        """Return which of the candidates should be measured next.

        Args:
            measured: characteristics of the measured points; shape (n, 8).
            target: values measured there, above 0; shape (n,).
            candidates: characteristics of the candidates; shape (m, 8).
            count: how many to choose.

        Returns:
            Rows of the candidates, the most wanted first; shape (count,).
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
        """Return the least certain points, each chosen given those before it."""
        rows: I64 = self._process.fit(measured, target).least_known(candidates, count)
        return rows


def first_points(points: int, seed: int) -> list[WorkloadPoint]:
    """Return the points that are measured before a model can be fitted."""
    first = min(points, max(_LEAST_FIRST, round(_FIRST_SHARE * points)))
    return list(grid_points(first, seed))


def candidates(seed: int) -> list[WorkloadPoint]:
    """Return the points from which the next ones are chosen."""
    return list(grid_points(_CANDIDATES, seed))


def next_points(
    measured_points: Sequence[WorkloadPoint],
    target: F64,
    pool: Sequence[WorkloadPoint],
    *,
    most: int,
    learner: PointLearner,
) -> list[WorkloadPoint]:
    """Return the next batch of points of the pool, the most wanted first.

    Args:
        measured_points: points that were measured without failure; with fewer than two, the first
            of the pool is next.
        target: values measured there, above 0; shape (n,).
        pool: the candidates.
        most: points left to measure.
        learner: learns from the measured points.
    """
    measured = set(measured_points)
    left = [point for point in once_each(pool) if point not in measured]
    if len(measured_points) < _LEAST_KNOWN:
        return left[: min(most, 1)]
    # Seeded by the number of rows: each batch draws other candidates.
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
