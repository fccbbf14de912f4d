"""Gaussian process of several parts: the most accurate model with few training rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_solve, solve_triangular  # type: ignore[import-untyped]
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from writeamp.errors import WriteampError
from writeamp.learn.blackbox.models import checks
from writeamp.learn.blackbox.models.checks import PROCESS, checked
from writeamp.learn.blackbox.models.kernels import Coordinates, Kernel, coordinates_of, tuned
from writeamp.learn.blackbox.models.terms import to_model, to_target

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

# Rows predicted at once. The matrix of covariances with the training rows then fits in memory.
_CHUNK_ROWS = 2048


class GaussianProcessRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Sum of Gaussian processes, each on some of the features (Rasmussen and Williams 2006).

    Each process is a part of the sum. A part with few features needs few rows: usually one part is
    the cost of writes, one the cost of reads, and one the rest. Features are scaled to 0…1, as
    logarithms if they span orders of magnitude. An end of a feature's range, such as no writes, can
    have its own coordinate (`Coordinates.ends`).

    Args:
        parts: the features of each part; None for one part with all features.
        log_target: fit the logarithm of the target, which must then be above 0.
        most_tuned: most rows, drawn at random, that tune the kernel; more take longer.
        most_rows: most rows, drawn at random, that predictions use.
        most_steps: most steps of the kernel's tuning.
        random_state: seed of the draws.

    Attributes:
        kernel_: covariances of the parts, and the noise of the rows.
        points_: the rows that predictions use; shape (points, coordinates).
        weights_: weight of the covariance with each of these points; shape (points,).
        feature_importances_: share of the variation by feature; shape (features,). The sum is 1, or
            0 if all parts are constant.
        box_low_, box_high_: least and greatest training value of each feature; shape (features,).
    """

    def __init__(
        self,
        *,
        parts: Sequence[Sequence[int]] | None = None,
        log_target: bool = False,
        most_tuned: int = 500,
        most_rows: int = 6000,
        most_steps: int = 50,
        random_state: int = 0,
    ) -> None:
        """Store the parameters, which `fit` checks."""
        self.parts = parts
        self.log_target = log_target
        self.most_tuned = most_tuned
        self.most_rows = most_rows
        self.most_steps = most_steps
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> GaussianProcessRegressor:  # noqa: N803
        """Fit the process.

        Args:
            X: features; shape (rows, features).
            y: target; shape (rows,).

        Raises:
            WriteampError: a parameter outside its domain, a missing value, or a target without a
                logarithm.
        """
        checked(self, PROCESS)
        features, target = checks.training_rows(self, X, y)
        values = to_model(target, is_log=self.log_target)
        self.coordinates_: Coordinates = coordinates_of(features)
        self.mean_ = float(values.mean())
        self.deviation_ = float(values.std()) or 1.0
        points, standard = self.coordinates_.of(features), (values - self.mean_) / self.deviation_
        order = np.random.default_rng(self.random_state).permutation(len(values))
        first, used = order[: self.most_tuned], np.sort(order[: self.most_rows])
        self.kernel_: Kernel = tuned(
            points[first], standard[first], self._columns(), self.most_steps
        )
        self.points_: F64 = points[used]
        factor = self._factor()
        self.weights_: F64 = cho_solve((factor, True), standard[used])
        self.box_low_, self.box_high_ = features.min(axis=0), features.max(axis=0)
        self.feature_importances_: F64 = self._importances()
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:  # noqa: N803
        """Return the predictions, and with `return_std` their standard deviations; shape (rows,).

        Raises:
            WriteampError: a missing value.
        """
        check_is_fitted(self)
        points = self.coordinates_.of(checks.rows_to_predict(self, X))
        chunks = [points[at : at + _CHUNK_ROWS] for at in range(0, len(points), _CHUNK_ROWS)]
        chunk_means = [
            self.kernel_.between(chunk, self.points_) @ self.weights_ for chunk in chunks
        ]
        mean = self._in_unit(np.concatenate(chunk_means))
        if not return_std:
            return mean
        factor = self._factor()
        explained = np.concatenate(
            [(self._whitened(chunk, factor) ** 2).sum(axis=0) for chunk in chunks]
        )
        deviation = self.deviation_ * np.sqrt(np.maximum(self.kernel_.variance - explained, 0.0))
        # A small deviation of the logarithm is about the relative deviation of the target.
        return mean, deviation * mean if self.log_target else deviation

    def least_known(self, X: Any, count: int) -> I64:  # noqa: N803
        """Return the rows to measure next; shape (count,), or all rows if there are fewer.

        Each chosen row has the least certain prediction, given that the rows chosen before it are
        measured. The certainty does not depend on the measured values.
        """
        check_is_fitted(self)
        points = self.coordinates_.of(checks.rows_to_predict(self, X))
        whitened = self._whitened(points, self._factor())
        # Covariance of all points given the training rows, without noise (Rasmussen and Williams,
        # equation 2.26).
        covariance = self.kernel_.between(points, points) - whitened.T @ whitened
        chosen: list[int] = []
        for _ in range(min(count, len(points))):
            variance = np.diag(covariance).copy()
            variance[chosen] = -1.0
            at = int(np.argmax(variance))
            chosen.append(at)
            column = covariance[:, at]
            covariance -= np.outer(column, column) / (covariance[at, at] + self.kernel_.noise)
        return np.array(chosen, dtype=np.int64)

    def outside(self, X: Any) -> npt.NDArray[np.bool_]:  # noqa: N803
        """Return which rows have a feature outside the training rows' range; shape (rows,)."""
        check_is_fitted(self)
        return checks.outside(checks.rows_to_predict(self, X), self.box_low_, self.box_high_)

    def _columns(self) -> list[I64]:
        """Return the coordinates that each part uses; reject parts with invalid features."""
        origins, count = self.coordinates_.origins, len(self.coordinates_.low)
        features = set(range(count))
        parts = [features] if self.parts is None else list(self.parts)
        for members in parts:
            if (
                not isinstance(members, Iterable)
                or not set(members)
                or not features.issuperset(members)
            ):
                raise WriteampError(
                    f"parts has {members!r}; a part must be some of the features 0 to {count - 1}"
                )
        if not parts:
            raise WriteampError("parts is empty; a process needs at least one part")
        return [np.flatnonzero(np.isin(origins, list(members))) for members in parts]

    def _in_unit(self, standard: F64) -> F64:
        values = self.mean_ + self.deviation_ * standard
        return to_target(values, is_log=self.log_target)

    def _factor(self) -> F64:
        try:
            return self.kernel_.factor(self.points_)
        except np.linalg.LinAlgError:
            raise WriteampError(
                "the rows are too similar for a Gaussian process; use another model"
            ) from None

    def _whitened(self, points: F64, factor: F64) -> F64:
        """Return the whitened covariances of training rows (rows) and points (columns).

        The squares of a column sum to the point's variance that the training rows explain.
        """
        whitened: F64 = solve_triangular(
            factor, self.kernel_.between(self.points_, points), lower=True
        )
        return whitened

    def _importances(self) -> F64:
        """Return each feature's share of the explained variation.

        The weight of a coordinate is its part's variance times the variance of the points' values,
        divided by the square of the coordinate's length scale.
        """
        shares = np.zeros(len(self.coordinates_.low))
        for component in self.kernel_.parts:
            moved = (
                component.variance
                * self.points_[:, component.columns].var(axis=0)
                / component.lengths**2
            )
            np.add.at(shares, self.coordinates_.origins[component.columns], moved)
        return shares / (shares.sum() or 1.0)
