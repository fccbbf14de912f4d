"""Cross-conformal prediction intervals, valid for any model, by class of magnitude.

The model is fitted without each fold in turn, and predicts this fold. The errors give the widths of
the intervals (Barber et al. 2021, CV+; Vovk et al. 2005, section 4.5 for intervals by category).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.linear_model import LinearRegression
from sklearn.utils.validation import check_is_fitted

from writeamp.errors import WriteampError
from writeamp.learn.blackbox.models import checks
from writeamp.learn.blackbox.models.checks import CONFORMAL, checked, fitted, predicted_unseen
from writeamp.learn.blackbox.models.terms import to_model

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

# Least number of errors in a class of predictions, so that their quantile is reliable.
_FEWEST_ERRORS = 100


class ConformalRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A model with prediction intervals from its errors on unseen rows.

    Predictions are divided into classes of similar magnitude, each with its own interval width, so
    that small accurate predictions do not get the errors of large inaccurate ones.

    Args:
        estimator: the model; None for a linear one.
        level: share of unseen rows within their interval.
        folds: number of folds of the cross-validation; None for the out-of-bag predictions of a
            forest, which need no further fits.
        classes: most classes of predictions; fewer if a class would have less than 100 rows.
        relative: intervals by factors rather than differences, for targets above 0.
        random_state: seed of the folds.

    Attributes:
        estimator_: the model fitted to all rows.
        unseen_prediction_: prediction of each training row by a model fitted without it, NaN if
            missing; shape (rows,). A loaded model does not have it.
        unseen_fold_: the fold that held the row out; shape (rows,). Missing for out-of-bag
            predictions.
        box_low_, box_high_: least and greatest training value of each feature; shape (features,).
        edges_: predictions at which one class ends and the next begins; shape (classes − 1,).
        widths_: half the width of the interval of each class; shape (classes,). If `relative`,
            `edges_` and `widths_` are those of the logarithm.
        floor_: the least training target, which replaces predictions below it in relative errors.
    """

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        *,
        level: float = 0.9,
        folds: int | None = 5,
        classes: int = 10,
        relative: bool = False,
        random_state: int = 0,
    ) -> None:
        """Store the parameters, which `fit` checks."""
        self.estimator = estimator
        self.level = level
        self.folds = folds
        self.classes = classes
        self.relative = relative
        self.random_state = random_state

    def fit(self, X: Any, y: Any, groups: Any = None) -> ConformalRegressor:  # noqa: N803
        """Fit the model to all rows, and for each fold to all rows outside the fold.

        Args:
            X: features; shape (rows, features).
            y: target; shape (rows,).
            groups: rows of the same group stay in one fold; shape (rows,).

        Raises:
            WriteampError: a parameter outside its domain, a missing value, or a relative interval
                for a target that is not above 0.
        """
        checked(self, CONFORMAL)
        features, target = checks.training_rows(self, X, y)
        self.floor_ = float(target.min())
        self.box_low_, self.box_high_ = features.min(axis=0), features.max(axis=0)
        model = LinearRegression() if self.estimator is None else self.estimator
        self.estimator_ = fitted(clone(model), features, target, groups)
        if self.folds is None:
            self._look_out_of_bag()
        else:
            folds = checks.folds_of(len(target), groups, self.folds, self.random_state)
            self.unseen_prediction_: F64 = predicted_unseen(model, features, target, groups, folds)
            self.unseen_fold_: I64 = np.empty(len(target), dtype=np.int64)
            for fold, held_out in enumerate(folds):
                self.unseen_fold_[held_out] = fold
        self.calibrate(self.unseen_prediction_, target)
        return self

    def calibrate(self, predicted: Any, y: Any) -> None:
        """Set the widths of the intervals from predictions of unseen rows, NaN if missing.

        Args:
            predicted: predictions of rows that the model has not seen; shape (rows,).
            y: observed target of the same rows; shape (rows,).
        """
        is_known = np.isfinite(predicted)
        middle = self._scale(np.asarray(predicted)[is_known])
        errors = np.abs(to_model(np.asarray(y)[is_known], is_log=self.relative) - middle)
        self._set_widths(middle, errors)

    def predict(self, X: Any) -> F64:  # noqa: N803
        """Return the model's predictions; shape (rows,)."""
        check_is_fitted(self)
        predictions: F64 = self.estimator_.predict(checks.rows_to_predict(self, X))
        return predictions

    def predict_interval(self, X: Any) -> tuple[F64, F64]:  # noqa: N803
        """Return the lower and the upper end of each row's interval; shape (rows,) each."""
        return self.interval_around(self.predict(X))

    def interval_around(self, predicted: F64) -> tuple[F64, F64]:
        """Return the lower and the upper end of an interval that contains each prediction.

        With `relative`, a prediction below `floor_` has the interval of the floor, extended down to
        the prediction.
        """
        check_is_fitted(self)
        middle = self._scale(predicted)
        width = self.widths_[np.searchsorted(self.edges_, middle, side="right")]
        low, high = middle - width, middle + width
        if self.relative:
            low, high = np.exp(low), np.exp(high)
        return np.minimum(low, predicted), np.maximum(high, predicted)

    def outside(self, X: Any) -> npt.NDArray[np.bool_]:  # noqa: N803
        """Return which rows have a feature outside the training rows' range; shape (rows,).

        If the model has its own range, as a model for one kind of workload does, a row outside that
        range counts, too.
        """
        check_is_fitted(self)
        features = checks.rows_to_predict(self, X)
        is_outside = checks.outside(features, self.box_low_, self.box_high_)
        if hasattr(self.estimator_, "outside"):
            is_outside |= self.estimator_.outside(features)
        return is_outside

    def _look_out_of_bag(self) -> None:
        if not hasattr(self.estimator_, "oob_prediction_"):
            raise WriteampError(
                f"a {type(self.estimator_).__name__} has no out-of-bag predictions; folds must be "
                "2 or more"
            )
        self.unseen_prediction_ = self.estimator_.oob_prediction_

    def _scale(self, predicted: F64) -> F64:
        """Return the predictions, or their logarithms if errors are relative."""
        return np.log(np.maximum(predicted, self.floor_)) if self.relative else predicted

    def _set_widths(self, predicted: F64, errors: F64) -> None:
        classes = max(min(self.classes, len(errors) // _FEWEST_ERRORS), 1)
        self.edges_ = np.unique(np.quantile(predicted, np.arange(1, classes) / classes))
        place = np.searchsorted(self.edges_, predicted, side="right")
        self.widths_ = np.empty(len(self.edges_) + 1)
        for index in range(len(self.widths_)):
            own = np.sort(errors[place == index]) if (place == index).any() else np.sort(errors)
            # The rank that a further error exceeds with probability 1 − level (Vovk, section 2.2).
            rank = int(np.ceil((len(own) + 1) * self.level))
            self.widths_[index] = own[min(rank, len(own)) - 1]
