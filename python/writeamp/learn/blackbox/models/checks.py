"""Checks of an estimator's parameters, training rows, groups and folds; and fits by folds.

Groups are sets of training rows, such as those of one workload, that must stay in one fold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import GroupKFold, KFold
from sklearn.utils.validation import has_fit_parameter, validate_data

from writeamp.errors import WriteampError
from writeamp.fields.domains import BELOW_ONE, POSITIVE_COUNT, Domain, Flag, Number, Whole


@dataclass(frozen=True)
class OrNone:
    """Domain of None and the values of another domain."""

    domain: Domain

    def check(self, name: str, value: Any) -> Any:
        """Return the value."""
        return value if value is None else self.domain.check(name, value)


@dataclass(frozen=True)
class Folds:
    """Domain of the number of folds of a cross-validation; 0 for none."""

    def check(self, name: str, value: Any) -> int:
        """Return the number of folds."""
        return 0 if value == 0 else Whole(2, 1000).check(name, value)


_NOT_NEGATIVE = Number("be 0 or more", lambda value: value >= 0)

GROWTH: Mapping[str, Domain] = {
    "min_samples_leaf": POSITIVE_COUNT,
    "max_depth": Whole(0, 1000),
    "max_terms": OrNone(Whole(0)),
    "f_to_enter": _NOT_NEGATIVE,
    "split_candidates": POSITIVE_COUNT,
    "log_target": Flag(),
    "log_terms": Flag(),
    "smoothing": _NOT_NEGATIVE,
    "margin": _NOT_NEGATIVE,
    "random_state": Whole(0, 2**32 - 1),
}
TREE: Mapping[str, Domain] = {
    **GROWTH,
    "quantile": OrNone(BELOW_ONE),
    "folds": Folds(),
    "standard_errors": _NOT_NEGATIVE,
}
FOREST: Mapping[str, Domain] = {
    **GROWTH,
    "n_estimators": Whole(2, 100_000),
    "sample_share": BELOW_ONE,
}

PROCESS: Mapping[str, Domain] = {
    "log_target": Flag(),
    "most_tuned": Whole(2),
    "most_rows": Whole(2),
    "most_steps": POSITIVE_COUNT,
    "random_state": Whole(0, 2**32 - 1),
}

CONFORMAL: Mapping[str, Domain] = {
    "level": BELOW_ONE,
    "folds": OrNone(Whole(2, 1000)),
    "classes": POSITIVE_COUNT,
    "relative": Flag(),
    "random_state": Whole(0, 2**32 - 1),
}


def checked(estimator: BaseEstimator, domains: Mapping[str, Domain]) -> None:
    """Reject a parameter outside its domain with a `WriteampError` that names it."""
    for name, domain in domains.items():
        domain.check(name, getattr(estimator, name))


F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]


def training_rows(estimator: BaseEstimator, features: Any, target: Any) -> tuple[F64, F64]:
    """Return features (rows, features) and target (rows,) as floats, with at least 2 rows.

    Raises:
        WriteampError: a value is missing or not finite.
        ValueError: the shape is not valid; scikit-learn's own message.
    """
    features, target = validate_data(
        estimator,
        features,
        target,
        dtype=np.float64,
        y_numeric=True,
        ensure_all_finite="allow-nan",
        ensure_min_samples=2,
    )
    return _complete(estimator, features), np.asarray(target, dtype=np.float64)


def rows_to_predict(estimator: BaseEstimator, features: Any) -> F64:
    """Return features (rows, features) as floats; raises as `training_rows`."""
    rows = validate_data(
        estimator, features, dtype=np.float64, ensure_all_finite="allow-nan", reset=False
    )
    return _complete(estimator, rows)


def folds_of(rows: int, groups: Any, folds: int, seed: int) -> list[I64]:
    """Return the rows that each fold of a cross-validation holds out; groups are not split.

    There are fewer folds than requested if there are fewer rows or groups.

    Raises:
        WriteampError: `groups` does not have one value per row, or all rows are in one group.
    """
    if groups is None:
        splits = KFold(min(folds, rows), shuffle=True, random_state=seed).split(np.zeros(rows))
        return [held_out for _, held_out in splits]
    groups = _one_for_each(rows, groups)
    different = len(np.unique(groups))
    if different < 2:
        raise WriteampError("all rows are in one group; a cross-validation needs at least two")
    splitter = GroupKFold(min(folds, different), shuffle=True, random_state=seed)
    return [held_out for _, held_out in splitter.split(np.zeros(rows), groups=groups)]


def labels_of(rows: int, groups: Any) -> I64:
    """Return the number of each row's group, from 0; without groups, each row is a group."""
    if groups is None:
        return np.arange(rows)
    return np.unique(_one_for_each(rows, groups), return_inverse=True)[1]


def outside(features: F64, low: F64, high: F64) -> npt.NDArray[np.bool_]:
    """Return which rows have a feature below its `low` or above its `high`; shape (rows,)."""
    is_outside: npt.NDArray[np.bool_] = np.any((features < low) | (features > high), axis=1)
    return is_outside


def _one_for_each(rows: int, groups: Any) -> npt.NDArray[Any]:
    labels = np.asarray(groups)
    if labels.shape != (rows,):
        raise WriteampError(
            f"groups have the shape {labels.shape}; they must have a value for each of {rows} rows"
        )
    return labels


def _complete(estimator: BaseEstimator, features: F64) -> F64:
    missing = np.argwhere(np.isnan(features))
    if len(missing):
        row, column = (int(place) for place in missing[0])
        names = getattr(estimator, "feature_names_in_", None)
        where = f"column {column}" if names is None else f"column {names[column]!r}"
        raise WriteampError(
            f"row {row}, {where} is NaN; every feature of every row must be a finite number"
        )
    return features


def fitted(model: Any, features: F64, target: F64, groups: Any) -> Any:
    """Fit the model, with the groups if it takes them, and return it."""
    if groups is not None and has_fit_parameter(model, "groups"):
        return model.fit(features, target, groups=groups)
    return model.fit(features, target)


def predicted_unseen(
    model: Any, features: F64, target: F64, groups: Any, folds: Sequence[I64]
) -> F64:
    """Return each row's prediction by a model that was fitted without the row's fold.

    Args:
        model: an unfitted model; it is not changed.
        features: shape (rows, features).
        target: shape (rows,).
        groups: group of each row, or None; shape (rows,).
        folds: the rows that each fold holds out; together, the folds hold out all rows.
    """
    predictions = np.empty(len(target))
    for held_out in folds:
        training = np.setdiff1d(np.arange(len(target)), held_out)
        own = None if groups is None else np.asarray(groups)[training]
        fold_model = fitted(clone(model), features[training], target[training], own)
        predictions[held_out] = fold_model.predict(features[held_out])
    return predictions
