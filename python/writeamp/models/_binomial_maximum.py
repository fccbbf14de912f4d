"""Expected maximum of many independent binomial variables, by logarithms of tails."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from writeamp.models._arguments import FloatArray

IntArray: TypeAlias = npt.NDArray[np.int64]

# Neglected probabilities are below e^-42 = 6e-19.
_NEGLIGIBLE = 42.0

# Sums over many variables with close means use a Gauss rule with 8 points for each chunk. If chunks
# are one standard deviation wide, the error is below 1e-13.
_POINTS = 8

# Maximum elements of one table, so that it fits the processor's cache.
_TABLE = 1 << 17


def expected_maximum(trials: int, variables: int, oldest: float, spacing: float) -> float:
    """Return E[max X_i] of independent X_i ~ Binomial(trials, 1 − e^(−(oldest − i·spacing))).

    i runs from 0 to `variables` − 1, and X_0 has the largest mean. Only terms of the sum
    Σ_k (1 − Π_i P(X_i ≤ k)) that differ from 1 and 0 are computed, and only from variables that
    contribute to them. The time grows with √trials, and above some hundred variables it does not
    depend on their number.
    """
    family = Family(trials, variables, oldest, spacing)
    ages, weights = family.ages()
    # `most` bounds the maximum; `least` bounds the values of all variables from below.
    least, most = family.reach(float(ages.min()))[0], family.reach(oldest)[1]
    steps = np.arange(least, most, dtype=np.float64)
    # ln(binom(trials, k)), less its value at k = least.
    log_binomials = np.concatenate(([0.0], np.cumsum(np.log((trials - steps) / (steps + 1)))))
    log_cdf = np.zeros(most - least + 1)
    rows = max(1, _TABLE // log_cdf.size)
    for start in range(0, ages.size, rows):
        chunk = slice(start, start + rows)
        log_cdf += weights[chunk] @ _log_cdfs(ages[chunk], log_binomials)
    return least - float(np.expm1(log_cdf).sum())


def _log_cdfs(ages: FloatArray, log_binomials: FloatArray) -> FloatArray:
    """Return ln P(X ≤ k) with a row for each age and a column for each k of the table."""
    log_odds = ages + np.log(-np.expm1(-ages))  # ln(q/(1−q)) for q = 1 − e^(−age)
    table = log_binomials + np.arange(log_binomials.size) * log_odds[:, np.newaxis]
    table -= table.max(axis=1, keepdims=True)
    np.exp(table, out=table)
    table /= table.sum(axis=1, keepdims=True)
    tail = np.zeros_like(table)
    np.cumsum(table[:, :0:-1], axis=1, out=tail[:, -2::-1])
    np.cumsum(table, axis=1, out=table)
    with np.errstate(divide="ignore"):  # a probability below 1e-308 has the logarithm -inf
        return np.where(tail < 0.5, np.log1p(-np.minimum(tail, 0.5)), np.log(table))


@dataclass(frozen=True)
class Family:
    """The variables of a maximum, by the arguments of `expected_maximum`."""

    trials: int
    variables: int
    oldest: float
    spacing: float

    def reach(self, age: float) -> tuple[int, int]:
        """Return bounds of k, outside which the probability is negligible (Bernstein)."""
        hit = -math.expm1(-age)
        mean, variance = self.trials * hit, self.trials * hit * math.exp(-age)
        negligible = _NEGLIGIBLE + math.log(self.variables)
        third = negligible / 3
        far = third + math.sqrt(third * third + 2 * negligible * variance)
        return max(0, math.floor(mean - far)), min(self.trials, math.ceil(mean + far))

    def ages(self) -> tuple[FloatArray, FloatArray]:
        """Return ages and weights of a summation rule over the variables that can be largest."""
        if self.spacing == 0:
            return np.array([self.oldest]), np.array([float(self.variables)])
        least, _ = self.reach(self.oldest)
        others = bisect_left(
            range(1, self.variables),
            True,
            key=lambda i: self.reach(self.oldest - i * self.spacing)[1] <= least,
        )
        numbers, weights = _summation_rule(self._cuts(1 + others))
        return self.oldest - numbers * self.spacing, weights

    def _cuts(self, variables: int) -> IntArray:
        """Return cuts of 0 … `variables`, so that X_i changes by one deviation in each chunk."""
        if variables <= _POINTS:
            return np.arange(variables + 1)
        # For a share with mean q of n trials, 2√n·asin(√share) has standard deviation 1 for all q.
        scale = 2 * math.sqrt(self.trials)
        youngest = self.oldest - (variables - 1) * self.spacing
        first, last = (
            scale * math.asin(math.sqrt(-math.expm1(-age))) for age in (self.oldest, youngest)
        )
        inner = np.linspace(first, last, math.ceil(first - last) + 1)[1:-1]
        ages = -2 * np.log(np.cos(inner / scale))
        cuts = np.ceil((self.oldest - ages) / self.spacing).astype(np.int64)
        return np.unique(np.concatenate(([0], np.clip(cuts, 0, variables), [variables])))


def _summation_rule(cuts: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return points and weights of a rule that sums smooth functions of 0, 1, … over all chunks.

    Small chunks are summed element by element. For a chunk of m > 8 numbers, the Gauss rule of
    their sum is used. Its points are the roots of a discrete Chebyshev (Gram) polynomial, which are
    the eigenvalues of the matrix of the recurrence coefficients k²(m² − k²)/(4(4k² − 1)).
    """
    starts, sizes = cuts[:-1], np.diff(cuts)
    small = sizes <= _POINTS
    parts = zip(starts[small], sizes[small], strict=True)
    singles = np.concatenate([[], *(np.arange(start, start + m) for start, m in parts)])
    m = sizes[~small, np.newaxis].astype(np.float64)
    k = np.arange(1.0, _POINTS)
    matrices = np.zeros((len(m), _POINTS, _POINTS))
    diagonal = np.arange(_POINTS - 1)
    matrices[:, diagonal + 1, diagonal] = k * np.sqrt((m * m - k * k) / (4 * (4 * k * k - 1)))
    offsets, vectors = np.linalg.eigh(matrices)  # reads the lower triangle
    points = starts[~small, np.newaxis] + (m - 1) / 2 + offsets
    weights = m * vectors[:, 0, :] ** 2
    return (
        np.concatenate([singles, points.ravel()]),
        np.concatenate([np.ones(singles.size), weights.ravel()]),
    )
