"""Active learning: the next points are those of which least is known.

A point is worth as much as the spread of its prediction times its distance to the nearest point
that is known or chosen already, as in improved greedy sampling (Wu, Lin and Huang, "Active learning
for regression using greedy sampling", Information Sciences 474, 2019), so that a batch is diverse.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from writeamp.blackbox.designs import grid_points, once_each
from writeamp.blackbox.space import CHARACTERISTICS, WorkloadPoint

_Floats = npt.NDArray[np.float64]

# Among so many points of the grid the next ones are chosen.
_CANDIDATES = 4000
# The first points are those of the design `grid`: a share of all, but at least so many.
_FIRST_SHARE = 0.2
_LEAST_FIRST = 8
# A batch is so large a part of what is known, for each costs a fit.
_BATCH_SHARE = 0.1


class Uncertainty(Protocol):
    """A model that tells how little it knows."""

    def spread(self, known: _Floats, targets: _Floats, asked: _Floats) -> _Floats:
        """Return the standard deviation of the prediction at each point that is asked for.

        Args:
            known: characteristics of what was measured, scaled to 0…1; shape (n, 8).
            targets: logarithms of what was found, standardised; shape (n, targets).
            asked: characteristics of the candidates; shape (m, 8).

        Returns:
            The spreads, of the mean of the targets or of one another; shape (m,).
        """


def first_points(points: int, seed: int) -> list[WorkloadPoint]:
    """Return the points that are measured before there is anything to learn from."""
    first = min(points, max(_LEAST_FIRST, round(_FIRST_SHARE * points)))
    return list(grid_points(first, seed))


def candidates(seed: int) -> list[WorkloadPoint]:
    """Return the points among which the next ones are chosen."""
    return list(grid_points(_CANDIDATES, seed))


def next_points(
    known: Sequence[WorkloadPoint],
    targets: _Floats,
    pool: Sequence[WorkloadPoint],
    *,
    most: int,
    uncertainty: Uncertainty,
) -> list[WorkloadPoint]:
    """Return the next batch of points of the pool, the most wanted first.

    Args:
        known: what was measured, without failures.
        targets: what was found, all above 0; shape (n, targets).
        pool: the candidates.
        most: how many points are still to be measured.
        uncertainty: what learns from the known points.
    """
    left = [point for point in once_each(pool) if point not in set(known)]
    here, there = _scaled(known), _scaled(left)
    logs = np.log(targets)
    deviation = logs.std(axis=0)
    standard = (logs - logs.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)
    spread = uncertainty.spread(here, standard, there)
    batch = min(most, len(left), max(1, round(_BATCH_SHARE * len(known))))
    return [left[at] for at in _diverse(here, there, spread, batch)]


def _diverse(here: _Floats, there: _Floats, spread: _Floats, batch: int) -> list[int]:
    distance = np.full(len(there), np.inf)
    for point in here:
        distance = np.minimum(distance, np.linalg.norm(there - point, axis=1))
    chosen: list[int] = []
    for _ in range(batch):
        at = int(np.argmax(spread * distance))
        chosen.append(at)
        distance = np.minimum(distance, np.linalg.norm(there - there[at], axis=1))
    return chosen


def _scaled(points: Sequence[WorkloadPoint]) -> _Floats:
    """Return the characteristics from 0 to 1; sizes, strides and depths as logarithms."""
    values = np.array([[getattr(one, name) for name in CHARACTERISTICS] for one in points], float)
    for column, name in enumerate(CHARACTERISTICS):
        if name == "queue_depth":
            values[:, column] = np.log2(values[:, column]) / np.log2(64)
        elif name.endswith("_bytes"):
            values[:, column] = np.log2(1 + values[:, column] / 512) / np.log2(1 + 512)
    return values
