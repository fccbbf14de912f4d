"""Gaussian process of several parts: the most accurate model while rows are few."""

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

# Rows predicted at once, so that their covariances with the training rows stay small.
_CHUNK_ROWS = 2048


class GaussianProcessRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A sum of Gaussian processes, each of some of the features (Rasmussen and Williams 2006).

    A part that depends on few features is learnt from few rows: what writes cost whatever is read,
    what reads cost whatever is written, and what is left. Features are taken from 0 to 1, those
    that span magnitudes as logarithms, and their ends as kinds of their own (`coordinates`).

    Args:
        parts: the features of each part; None for one part of all.
        log_target: fit the logarithm of the target, which must then be above 0.
        most_tuned: rows, drawn at random, that decide how smooth the parts are; more take longer.
        most_rows: rows, drawn at random, that predictions are made from.
        most_steps: of the search for how smooth the parts are.
        random_state: seed of the draws.

    Attributes:
        kernel_: how smooth the parts are, and how noisy the rows.
        points_: the rows that predictions are made from; shape (kept, coordinates).
        weights_: what their covariances are weighed with; shape (kept,).
        feature_importances_: how strongly the parts vary with each feature; shape (features,), sum
            1 unless they do not.
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
        """Keep the parameters, which `fit` checks."""
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
            WriteampError: a parameter outside its domain, a missing value, or a target that has no
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
        first, kept = order[: self.most_tuned], np.sort(order[: self.most_rows])
        self.kernel_: Kernel = tuned(
            points[first], standard[first], self._columns(), self.most_steps
        )
        self.points_: F64 = points[kept]
        factor = self._factor()
        self.weights_: F64 = cho_solve((factor, True), standard[kept])
        self.box_low_, self.box_high_ = features.min(axis=0), features.max(axis=0)
        self.feature_importances_: F64 = self._importances()
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:  # noqa: N803
        """Return the predictions, and on request the standard deviation of each; shape (rows,).

        Raises:
            WriteampError: a missing value.
        """
        check_is_fitted(self)
        points = self.coordinates_.of(checks.rows_to_predict(self, X))
        chunks = [points[at : at + _CHUNK_ROWS] for at in range(0, len(points), _CHUNK_ROWS)]
        found = [self.kernel_.between(chunk, self.points_) @ self.weights_ for chunk in chunks]
        mean = self._in_unit(np.concatenate(found))
        if not return_std:
            return mean
        factor = self._factor()
        known = np.concatenate([(self._known(chunk, factor) ** 2).sum(axis=0) for chunk in chunks])
        deviation = self.deviation_ * np.sqrt(np.maximum(self.kernel_.variance - known, 0.0))
        # That of a logarithm is the relative one of the target, as long as it is small.
        return mean, deviation * mean if self.log_target else deviation

    def least_known(self, X: Any, count: int) -> I64:  # noqa: N803
        """Return the rows to measure next; shape (count,), or all of them if they are fewer.

        Each is the one whose prediction is least certain, once those before it are measured: how
        certain does not depend on what is found there.
        """
        check_is_fitted(self)
        points = self.coordinates_.of(checks.rows_to_predict(self, X))
        known = self._known(points, self._factor())
        # What is left unknown of all points together, without noise (equation 2.26).
        covariance = self.kernel_.between(points, points) - known.T @ known
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
        """Return the coordinates of each part, of features that there are."""
        origins, count = self.coordinates_.origins, len(self.coordinates_.low)
        features = set(range(count))
        parts = [features] if self.parts is None else list(self.parts)
        for part in parts:
            if not isinstance(part, Iterable) or not set(part) or not features.issuperset(part):
                raise WriteampError(
                    f"parts has {part!r}; a part is some of the features from 0 to {count - 1}"
                )
        if not parts:
            raise WriteampError("parts is empty; a process has one part at least")
        return [np.flatnonzero(np.isin(origins, list(part))) for part in parts]

    def _in_unit(self, standard: F64) -> F64:
        values = self.mean_ + self.deviation_ * standard
        return to_target(values, is_log=self.log_target)

    def _factor(self) -> F64:
        try:
            return self.kernel_.factor(self.points_)
        except np.linalg.LinAlgError:
            raise WriteampError(
                "the rows are too much alike for a Gaussian process; another model takes them"
            ) from None

    def _known(self, points: F64, factor: F64) -> F64:
        """Return the whitened covariances of training rows and points.

        The squares of a column sum to the variance that the training rows explain.
        """
        found: F64 = solve_triangular(
            factor, self.kernel_.between(self.points_, points), lower=True
        )
        return found

    def _importances(self) -> F64:
        """Return the share of each feature in what the process explains.

        A coordinate counts by the variance of its part, times that of its points, over its squared
        length.
        """
        found = np.zeros(len(self.coordinates_.low))
        for part in self.kernel_.parts:
            moved = part.variance * self.points_[:, part.columns].var(axis=0) / part.lengths**2
            np.add.at(found, self.coordinates_.origins[part.columns], moved)
        return found / (found.sum() or 1.0)
