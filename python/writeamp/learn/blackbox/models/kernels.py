"""Covariances of a Gaussian process, and the coordinates that they are of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_solve, cholesky  # type: ignore[import-untyped]
from scipy.optimize import minimize  # type: ignore[import-untyped]
from threadpoolctl import threadpool_limits

from writeamp.learn.blackbox.models.terms import terms_of

F64 = npt.NDArray[np.float64]

# An end of a feature's range is a kind of its own if this share of the rows has it, or more, and
# others have not: workloads that never write, or are sequential throughout.
_LEAST_SHARE = 0.02


@dataclass(frozen=True)
class Coordinates:
    """Map from rows of features to the points of a Gaussian process.

    Attributes:
        low, high: the range of each feature in the training rows; shape (features,).
        units: the least value above 0 of a feature that spans magnitudes, whose coordinate is a
            logarithm; 0 of the others; shape (features,).
        ends: features and the values at which they are a kind of their own.
    """

    low: F64
    high: F64
    units: F64
    ends: tuple[tuple[int, float], ...]

    @property
    def origins(self) -> npt.NDArray[np.int64]:
        """The feature that each coordinate comes from; shape (coordinates,)."""
        return np.array([*range(len(self.low)), *(feature for feature, _ in self.ends)])

    def of(self, features: F64) -> F64:
        """Return the points of rows of features; shape (rows, coordinates).

        What is beyond the training rows' range is taken to be at its end, but of no kind there.
        """
        within = np.clip(features, self.low, self.high)
        found = np.empty((len(features), len(self.low) + len(self.ends)))
        for place, unit in enumerate(self.units):
            values, ends = within[:, place], np.array([self.low[place], self.high[place]])
            if unit:
                values, ends = (np.log(np.maximum(one, unit)) for one in (values, ends))
            found[:, place] = (values - ends[0]) / ((ends[1] - ends[0]) or 1.0)
        for place, (feature, value) in enumerate(self.ends, len(self.low)):
            found[:, place] = features[:, feature] == value
        return found


def coordinates_of(features: F64) -> Coordinates:
    """Return the coordinates that suit these training rows.

    What is never below 0 nor above 1 is a share, whose ends are kinds of their own; of others 0 is.
    Logarithms stand for what is no share, never below 0, and spans a factor of 8 above it.
    """
    terms = terms_of(features, with_logs=True)
    low, high = features.min(axis=0), features.max(axis=0)
    is_share = (low >= 0) & (high <= 1)
    units = np.zeros(len(low))
    units[list(terms.logs)] = terms.units
    units[is_share] = 0.0
    ends = [
        (place, value)
        for place, column in enumerate(features.T)
        for value in ((0.0, 1.0) if is_share[place] else (0.0,))
        if _LEAST_SHARE <= np.mean(column == value) <= 1 - _LEAST_SHARE
    ]
    return Coordinates(low, high, units, tuple(ends))


I64 = npt.NDArray[np.int64]

# What is likely before any row is seen, of a target of variance 1 and coordinates from 0 to 1:
# logarithms of variances, lengths and noise are normal around these, with these deviations.
_LENGTH, _LENGTH_DEVIATION = 1.5, 1.0
_VARIANCE_DEVIATION = 1.5
_NOISE, _NOISE_DEVIATION = 1e-3, 1.0
# So many deviations from what is likely the search may go.
_FARTHEST = 5.0
# What a matrix that cannot be factored counts as.
_IMPOSSIBLE = 1e10


@dataclass(frozen=True)
class KernelPart:
    """A covariance of some coordinates, smooth twice: Matérn's with ν = 5/2, a length for each.

    (Rasmussen and Williams, "Gaussian Processes for Machine Learning", 2006, equation 4.17.)

    Attributes:
        columns: the coordinates; shape (own,).
        variance: of what the part adds.
        lengths: how far along each coordinate values are alike; shape (own,).
    """

    columns: I64
    variance: float
    lengths: F64

    def between(self, one: F64, other: F64) -> F64:
        """Return the covariances of points of one and of another; shape (rows, other rows)."""
        distance = self._distances(one, other)
        found: F64 = self.variance * (1 + distance + distance**2 / 3) * np.exp(-distance)
        return found

    def slopes(self, points: F64, weigh: F64) -> F64:
        """Return Σ w ∂k by the logarithms of the variance and of each length; shape (1 + own,).

        Args:
            points: shape (rows, coordinates).
            weigh: what the derivatives are weighed with, symmetric; shape (rows, rows).
        """
        distance = self._distances(points, points)
        slope = weigh * self.variance * np.exp(-distance) * (1 + distance)
        by_variance = np.sum(slope + slope * distance**2 / (3 * (1 + distance)))
        slope *= 5 / 3
        own = points[:, self.columns] / self.lengths
        # Σ s (x − x')² for each coordinate, without a matrix for each.
        by_length = 2 * (slope.sum(axis=1) @ own**2 - np.einsum("id,id->d", own, slope @ own))
        found: F64 = np.r_[by_variance, by_length]
        return found

    def _distances(self, one: F64, other: F64) -> F64:
        one, other = (points[:, self.columns] / self.lengths for points in (one, other))
        squares = (one**2).sum(axis=1)[:, None] + (other**2).sum(axis=1) - 2 * one @ other.T
        found: F64 = np.sqrt(5 * np.maximum(squares, 0.0))
        return found


@dataclass(frozen=True)
class Kernel:
    """The sum of some parts, and the variance of the noise of what was measured."""

    parts: tuple[KernelPart, ...]
    noise: float

    @property
    def variance(self) -> float:
        """Variance of the process at any point, without noise."""
        return sum(part.variance for part in self.parts)

    def between(self, one: F64, other: F64) -> F64:
        """Return the covariances of points of one and of another, without noise."""
        found: F64 = np.zeros((len(one), len(other)))
        for part in self.parts:
            found += part.between(one, other)
        return found

    def factor(self, points: F64) -> F64:
        """Return the lower factor of the covariance of noisy rows; shape (rows, rows)."""
        covariance = self.between(points, points)
        covariance[np.diag_indices(len(points))] += self.noise
        found: F64 = cholesky(covariance, lower=True, overwrite_a=True)
        return found


def tuned(points: F64, target: F64, columns: Sequence[I64], most_steps: int) -> Kernel:
    """Return the kernel under which the rows are likeliest (section 5.4.1, with weak priors).

    Args:
        points: shape (rows, coordinates).
        target: of mean 0 and variance 1; shape (rows,).
        columns: the coordinates of each part.
        most_steps: of the search at most.
    """
    centre, deviation = _likely(columns)

    def surprise(logs: F64) -> tuple[float, F64]:
        found, slopes = _surprise(_kernel(logs, columns), points, target)
        apart = (logs - centre) / deviation
        return found + float(apart @ apart) / 2, slopes + apart / deviation

    # Further away numbers overflow, and matrices cannot be factored.
    bounds = list(zip(centre - _FARTHEST * deviation, centre + _FARTHEST * deviation, strict=True))
    options = {"maxiter": most_steps}
    # Threads wait for each other longer than they take for matrices of so few rows.
    with threadpool_limits(1, "blas"):
        found = minimize(
            surprise, centre, jac=True, method="L-BFGS-B", bounds=bounds, options=options
        )
    return _kernel(found.x, columns)


def _likely(columns: Sequence[I64]) -> tuple[F64, F64]:
    """Return the prior means and deviations of the logarithms of the kernel's parameters."""
    centre, deviation = [], []
    for own in columns:
        centre += [np.log(1 / len(columns)), *[np.log(_LENGTH)] * len(own)]
        deviation += [_VARIANCE_DEVIATION, *[_LENGTH_DEVIATION] * len(own)]
    return np.array([*centre, np.log(_NOISE)]), np.array([*deviation, _NOISE_DEVIATION])


def _kernel(logs: F64, columns: Sequence[I64]) -> Kernel:
    values = np.exp(logs)
    parts, begin = [], 0
    for own in columns:
        end = begin + 1 + len(own)
        parts.append(KernelPart(own, float(values[begin]), values[begin + 1 : end]))
        begin = end
    return Kernel(tuple(parts), float(values[-1]))


def _surprise(kernel: Kernel, points: F64, target: F64) -> tuple[float, F64]:
    """Return −log p of the target, and its slopes by the logarithms of all that the kernel has."""
    try:
        factor = kernel.factor(points)
    except np.linalg.LinAlgError:
        return _IMPOSSIBLE, np.zeros(1 + sum(1 + len(part.columns) for part in kernel.parts))
    weights = cho_solve((factor, True), target)
    inverse = cho_solve((factor, True), np.eye(len(target)))
    weigh = (inverse - np.outer(weights, weights)) / 2  # equation 5.9
    slopes = [part.slopes(points, weigh) for part in kernel.parts]
    found = target @ weights / 2 + np.log(np.diag(factor)).sum()
    return float(found), np.r_[*slopes, kernel.noise * np.trace(weigh)]
