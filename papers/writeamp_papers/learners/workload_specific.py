"""Workload-specific models: one for each of paper 2's eight kinds, and a general one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.linear_model import LinearRegression
from sklearn.utils.validation import check_is_fitted

from writeamp.errors import WriteampError
from writeamp.fields.domains import Domain, Whole
from writeamp.learn.blackbox.models import checks
from writeamp.learn.blackbox.models.checks import checked, fitted
from writeamp.learn.blackbox.models.learner import Learner, ModelDocument, Saved, check_names
from writeamp.learn.blackbox.models.linear_tree import LinearTreeRegressor
from writeamp_papers.learners.workload_classes import NEEDS, WORKLOAD_CLASSES, members

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

GENERAL = "general"
_DOMAINS: Mapping[str, Domain] = {"fewest_rows": Whole(2)}


class WorkloadSpecificRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Eight workload-specific models (paper 2, section III.C) and a general one.

    Each class with enough rows has a model fitted to its rows; the general model is fitted to all
    rows. A row is predicted by the model of the first class in `WORKLOAD_CLASSES` that it belongs
    to and that has a model, otherwise by the general model.

    Args:
        estimator: estimator that is cloned for each model; None for linear regression.
        names: names of the features; None for those of the data frame in `fit`. If the features
            that define the classes (extended features) are missing, only the general model exists.
        fewest_rows: minimum of training rows for a class's own model.

    Attributes:
        models_: the fitted models by class name; `general` is the model of all rows.
    """

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        *,
        names: Sequence[str] | None = None,
        fewest_rows: int = 100,
    ) -> None:
        """Store the parameters, which `fit` checks."""
        self.estimator = estimator
        self.names = names
        self.fewest_rows = fewest_rows

    def fit(self, X: Any, y: Any, groups: Any = None) -> WorkloadSpecificRegressor:  # noqa: N803
        """Fit the models.

        Args:
            X: features; shape (rows, features).
            y: target; shape (rows,).
            groups: rows of one group stay in one fold; shape (rows,).

        Raises:
            WriteampError: a parameter outside its domain, or a missing value.
        """
        checked(self, _DOMAINS)
        features, target = checks.training_rows(self, X, y)
        model = LinearRegression() if self.estimator is None else self.estimator
        self.models_: dict[str, Any] = {GENERAL: fitted(clone(model), features, target, groups)}
        for workload_class, rows in self._rows_by_class(features).items():
            if len(rows) >= self.fewest_rows:
                own = None if groups is None else np.asarray(groups)[rows]
                self.models_[workload_class] = fitted(
                    clone(model), features[rows], target[rows], own
                )
        return self

    def predict(self, X: Any) -> F64:  # noqa: N803
        """Return the predictions; shape (rows,).

        Raises:
            WriteampError: a missing value.
        """
        check_is_fitted(self)
        features = checks.rows_to_predict(self, X)
        predictions = np.empty(len(features))
        for name, rows in self._rows_by_model(features).items():
            predictions[rows] = self.models_[name].predict(features[rows])
        return predictions

    def outside(self, X: Any) -> npt.NDArray[np.bool_]:  # noqa: N803
        """Return which rows are outside the training range of the model that predicts them."""
        check_is_fitted(self)
        features = checks.rows_to_predict(self, X)
        is_outside = np.zeros(len(features), dtype=bool)
        for name, rows in self._rows_by_model(features).items():
            if hasattr(self.models_[name], "outside"):
                is_outside[rows] = self.models_[name].outside(features[rows])
        return is_outside

    @property
    def feature_importances_(self) -> F64:
        """Importances of the general model; shape (features,)."""
        importances: F64 = self.models_[GENERAL].feature_importances_
        return importances

    def _rows_by_class(self, features: F64) -> dict[str, I64]:
        names = self.names if self.names is not None else getattr(self, "feature_names_in_", ())
        feature_names = tuple(str(name) for name in names)
        if not set(NEEDS) <= set(feature_names):
            return {}
        flags = members(features, feature_names)
        return {
            workload_class.name: np.flatnonzero(rows)
            for workload_class, rows in zip(WORKLOAD_CLASSES, flags, strict=True)
        }

    def _rows_by_model(self, features: F64) -> dict[str, I64]:
        """Return the rows that each model predicts; models without rows are left out."""
        is_left = np.ones(len(features), dtype=bool)
        rows_by_model: dict[str, I64] = {}
        for name, rows in self._rows_by_class(features).items():
            if name in self.models_:
                rows_by_model[name] = rows[is_left[rows]]
                is_left[rows] = False
        rows_by_model[GENERAL] = np.flatnonzero(is_left)
        return {name: rows for name, rows in rows_by_model.items() if len(rows)}


def _write(
    model: WorkloadSpecificRegressor, write: Callable[[Any], ModelDocument]
) -> ModelDocument:
    return {
        "models": {name: write(model_of_class) for name, model_of_class in model.models_.items()}
    }


def _read(
    model: WorkloadSpecificRegressor,
    document: Mapping[str, Any],
    read: Callable[[Mapping[str, Any]], Any],
) -> None:
    if model.names is not None:
        check_names(model.names, int(document["features"]))
    model.models_ = {name: read(saved_model) for name, saved_model in document["models"].items()}
    if GENERAL not in model.models_:
        raise WriteampError(
            f"the saved model lacks its part {GENERAL!r}, which predicts rows of no class"
        )


LEARNER = Learner(
    lambda is_log, names: WorkloadSpecificRegressor(
        LinearTreeRegressor(log_target=is_log), names=names
    ),
    saved=Saved(WorkloadSpecificRegressor, _write, _read, _DOMAINS),
)
