"""Covariances of a Gaussian process, and the coordinates that they use."""

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

# An end of a feature's range is often a special case, such as a workload that never writes. It gets
# its own coordinate if at least this share of the rows lies at this end, and at least this share
# elsewhere.
_LEAST_SHARE = 0.02


@dataclass(frozen=True)
class Coordinates:
    """Map from rows of features to the points of a Gaussian process.

    Attributes:
        low, high: range of each feature in the training rows; shape (features,).
        units: least value above 0 of each feature with a logarithmic coordinate; 0 for the others;
            shape (features,).
        ends: pairs of a feature and a value, each with its own coordinate: 1 if the feature has
            this value, else 0.
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
        """Convert rows of features to points; shape (rows, coordinates).

        A value beyond the training range is clipped to the range's end, but the extra coordinate of
        that end stays 0.
        """
        within = np.clip(features, self.low, self.high)
        points = np.empty((len(features), len(self.low) + len(self.ends)))
        for place, unit in enumerate(self.units):
            values, ends = within[:, place], np.array([self.low[place], self.high[place]])
            if unit:
                values, ends = (np.log(np.maximum(edge, unit)) for edge in (values, ends))
            points[:, place] = (values - ends[0]) / ((ends[1] - ends[0]) or 1.0)
        for place, (feature, value) in enumerate(self.ends, len(self.low)):
            points[:, place] = features[:, feature] == value
        return points


def coordinates_of(features: F64) -> Coordinates:
    """Return the coordinates that suit these training rows.

    A feature within 0…1 counts as a share, with an extra coordinate for 0 and for 1. Other features
    have an extra coordinate for 0 only. Values of few rows, or of nearly all, have none. If other
    features are never negative and span a factor of 8 above 0, their coordinate is logarithmic.
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

# Priors of the kernel's parameters, for a target of variance 1 and coordinates from 0 to 1. Length
# scales, variances and noise are log-normal, with these medians and deviations of the logarithm.
_LENGTH, _LENGTH_DEVIATION = 1.5, 1.0
_VARIANCE_DEVIATION = 1.5
_NOISE, _NOISE_DEVIATION = 1e-3, 1.0
# Limit of the search for parameters, in deviations from their prior medians.
_FARTHEST = 5.0
# Loss for parameters whose covariance matrix has no Cholesky factor, so the search avoids them.
_IMPOSSIBLE = 1e10


@dataclass(frozen=True)
class KernelPart:
    """Matérn covariance (ν = 5/2) over some coordinates, with a length scale for each.

    (Rasmussen and Williams, "Gaussian Processes for Machine Learning", 2006, equation 4.17.)

    Attributes:
        columns: indices of the part's coordinates; shape (own,).
        variance: variance of the part's contribution to the target.
        lengths: length scales: distance along each coordinate over which values are similar; shape
            (own,).
    """

    columns: I64
    variance: float
    lengths: F64

    def between(self, points: F64, other: F64) -> F64:
        """Return the covariances of two sets of points; shape (rows, other rows)."""
        distance = self._distances(points, other)
        covariance: F64 = self.variance * (1 + distance + distance**2 / 3) * np.exp(-distance)
        return covariance

    def slopes(self, points: F64, weigh: F64) -> F64:
        """Return weighted sums of the covariances' derivatives, Σ w ∂k; shape (1 + own,).

        Derivatives are by the logarithm of the variance, then of each length scale.

        Args:
            points: shape (rows, coordinates).
            weigh: symmetric weight w of each derivative; shape (rows, rows).
        """
        distance = self._distances(points, points)
        slope = weigh * self.variance * np.exp(-distance) * (1 + distance)
        by_variance = np.sum(slope + slope * distance**2 / (3 * (1 + distance)))
        slope *= 5 / 3
        own = points[:, self.columns] / self.lengths
        # For each coordinate x, this is the sum of slope · (x − x')² over all pairs of rows. It is
        # computed without a matrix per coordinate to save memory.
        by_length = 2 * (slope.sum(axis=1) @ own**2 - np.einsum("id,id->d", own, slope @ own))
        slopes: F64 = np.r_[by_variance, by_length]
        return slopes

    def _distances(self, points: F64, other: F64) -> F64:
        points, other = (each[:, self.columns] / self.lengths for each in (points, other))
        squares = (points**2).sum(axis=1)[:, None] + (other**2).sum(axis=1) - 2 * points @ other.T
        distances: F64 = np.sqrt(5 * np.maximum(squares, 0.0))
        return distances


@dataclass(frozen=True)
class Kernel:
    """Kernel of a Gaussian process: the sum of its parts, and the measurement noise's variance."""

    parts: tuple[KernelPart, ...]
    noise: float

    @property
    def variance(self) -> float:
        """Variance of the process at any point, without noise."""
        return sum(component.variance for component in self.parts)

    def between(self, points: F64, other: F64) -> F64:
        """Return the covariances of two sets of points, without noise."""
        covariance: F64 = np.zeros((len(points), len(other)))
        for component in self.parts:
            covariance += component.between(points, other)
        return covariance

    def factor(self, points: F64) -> F64:
        """Return the lower Cholesky factor of the covariance of noisy rows; shape (rows, rows)."""
        covariance = self.between(points, points)
        covariance[np.diag_indices(len(points))] += self.noise
        factor: F64 = cholesky(covariance, lower=True, overwrite_a=True)
        return factor


def tuned(points: F64, target: F64, columns: Sequence[I64], most_steps: int) -> Kernel:
    """Return the kernel with the greatest likelihood times weak priors.

    (Rasmussen and Williams 2006, section 5.4.1.)

    Args:
        points: shape (rows, coordinates).
        target: values to fit, with mean 0 and variance 1; shape (rows,).
        columns: indices of the coordinates of each part.
        most_steps: most steps of the search.
    """
    centre, deviation = _likely(columns)

    def surprise(logs: F64) -> tuple[float, F64]:
        value, slopes = _surprise(_kernel(logs, columns), points, target)
        apart = (logs - centre) / deviation
        return value + float(apart @ apart) / 2, slopes + apart / deviation

    # The bounds prevent overflow and covariance matrices without a Cholesky factor.
    bounds = list(zip(centre - _FARTHEST * deviation, centre + _FARTHEST * deviation, strict=True))
    options = {"maxiter": most_steps}
    # The matrices are so small that several threads would be slower than one.
    with threadpool_limits(1, "blas"):
        solution = minimize(
            surprise, centre, jac=True, method="L-BFGS-B", bounds=bounds, options=options
        )
    return _kernel(solution.x, columns)


def _likely(columns: Sequence[I64]) -> tuple[F64, F64]:
    """Return the prior mean and deviation of the logarithm of each kernel parameter."""
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
    """Return the target's negative log-likelihood, up to a constant, and its gradient.

    The gradient is by the logarithms of the kernel's parameters.
    """
    try:
        factor = kernel.factor(points)
    except np.linalg.LinAlgError:
        return _IMPOSSIBLE, np.zeros(
            1 + sum(1 + len(component.columns) for component in kernel.parts)
        )
    weights = cho_solve((factor, True), target)
    inverse = cho_solve((factor, True), np.eye(len(target)))
    weigh = (inverse - np.outer(weights, weights)) / 2  # Rasmussen and Williams, equation 5.9
    slopes = [component.slopes(points, weigh) for component in kernel.parts]
    value = target @ weights / 2 + np.log(np.diag(factor)).sum()
    return float(value), np.r_[*slopes, kernel.noise * np.trace(weigh)]
