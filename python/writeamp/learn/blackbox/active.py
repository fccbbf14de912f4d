"""Active learning: measure next the points that the model knows least of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from writeamp.learn.blackbox.designs import grid_points, once_each
from writeamp.learn.blackbox.space import CHARACTERISTICS, WorkloadPoint

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

# Among so many points of the grid the next ones are chosen, and among so many of these a batch.
_CANDIDATES = 4000
_CANDIDATES_OF_A_BATCH = 1500
# The first points are those of the design `grid`: a share of all, but at least so many.
_FIRST_SHARE = 0.2
_LEAST_FIRST = 8
# A batch is so large a part of what is known, for each costs a fit.
_BATCH_SHARE = 0.1
# A model is of so many at least.
_LEAST_KNOWN = 2
# scikit-learn takes seeds below this.
_SEEDS = 2**32


class PointLearner(Protocol):
    """Interface of models that choose which candidates to measure next."""

    def least_known(self, known: F64, target: F64, asked: F64, count: int) -> I64:
        """Return which of the candidates should be measured next.

        Args:
            known: characteristics of what was measured; shape (n, 8).
            target: what was found there, above 0; shape (n,).
            asked: characteristics of the candidates; shape (m, 8).
            count: how many to choose.

        Returns:
            Rows of `asked`, the most wanted first; shape (count,).
        """


class ProcessLearner:
    """Learner by a Gaussian process: it asks for the points of greatest uncertainty."""

    def __init__(self, seed: int) -> None:
        """Set what decides its draws.

        Raises:
            WriteampError: scikit-learn is not installed.
        """
        from writeamp.learn.blackbox.models.learners import make_model  # noqa: PLC0415 (an extra)

        process = make_model("gaussian-process", log_target=True, names=CHARACTERISTICS)
        self._process = process.set_params(random_state=seed % _SEEDS)

    def least_known(self, known: F64, target: F64, asked: F64, count: int) -> I64:
        """Return the points at which the process is least certain, each given those before it."""
        found: I64 = self._process.fit(known, target).least_known(asked, count)
        return found


def first_points(points: int, seed: int) -> list[WorkloadPoint]:
    """Return the points that are measured before there is anything to learn from."""
    first = min(points, max(_LEAST_FIRST, round(_FIRST_SHARE * points)))
    return list(grid_points(first, seed))


def candidates(seed: int) -> list[WorkloadPoint]:
    """Return the points among which the next ones are chosen."""
    return list(grid_points(_CANDIDATES, seed))


def next_points(
    known: Sequence[WorkloadPoint],
    target: F64,
    pool: Sequence[WorkloadPoint],
    *,
    most: int,
    learner: PointLearner,
) -> list[WorkloadPoint]:
    """Return the next batch of points of the pool, the most wanted first.

    Args:
        known: what was measured, without failures; as long as it is one, the pool's first is next.
        target: what was found, above 0; shape (n,).
        pool: the candidates.
        most: how many points are still to be measured.
        learner: what learns from the known points.
    """
    measured = set(known)
    left = [point for point in once_each(pool) if point not in measured]
    if len(known) < _LEAST_KNOWN:
        return left[: min(most, 1)]
    # Other candidates in each batch, as many as there are rows: what was drawn before is no guide.
    drawn = np.random.default_rng(len(known)).permutation(len(left))[:_CANDIDATES_OF_A_BATCH]
    count = min(most, len(drawn), max(1, round(_BATCH_SHARE * len(known))))
    if count == 0:
        return []
    asked = _values([left[at] for at in drawn])
    return [left[drawn[at]] for at in learner.least_known(_values(known), target, asked, count)]


def _values(points: Sequence[WorkloadPoint]) -> F64:
    return np.array([[getattr(one, name) for name in CHARACTERISTICS] for one in points], float)
