"""Learner: a kind of model, with functions to make, save and restore its estimator."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.linear_model import LinearRegression

from writeamp.errors import WriteampError
from writeamp.fields.domains import Domain, Whole

# Function that restores a fitted estimator. Its arguments are an unfitted estimator, the archived
# attributes, and a function that rebuilds estimators among these attributes.
Restore: TypeAlias = Callable[[Any, Mapping[str, Any], Callable[[Any], Any]], None]

# Least and greatest finite number.
FINITE = (-float(np.finfo(np.float64).max), float(np.finfo(np.float64).max))
# Valid numbers of features in a saved model. The limit is ten times the largest feature set, and
# small enough that a fit to blank rows fits in memory.
_FEATURES = Whole(1, 1000)


def of_fitted(restore: Callable[[Any, Mapping[str, Any], int], None], **quickly: Any) -> Restore:
    """Return the `Restore` of an estimator that contains no other estimators.

    Args:
        restore: sets the attributes that predictions depend on. Its arguments are an estimator that
            is fitted to blank rows (all 0), the archived attributes, and the number of features. It
            is not called if the saved estimator was not fitted.
        quickly: parameters that replace the saved ones during the fit to blank rows, to keep it
            short.
    """

    def restored(model: Any, state: Mapping[str, Any], _: object) -> None:
        if "n_features_in_" in state:
            features = _FEATURES.check("n_features_in_", state["n_features_in_"])
            parameters = {name: getattr(model, name) for name in quickly}
            model.set_params(**quickly).fit(np.zeros((2, features)), np.ones(2))
            model.set_params(**parameters)
            restore(model, state, features)

    return restored


def depths_of(
    is_leaf: npt.NDArray[np.bool_], left: npt.NDArray[Any], right: npt.NDArray[Any]
) -> npt.NDArray[np.int64] | None:
    """Return the depth of each node of a tree, shape (nodes,); None if it is not a valid tree.

    In a valid tree, each node except the root has one parent, which precedes it in the arrays. So
    every walk from the root ends.
    """
    inner = np.flatnonzero(~is_leaf)
    below = np.array([left, right]).astype(np.int64)[:, inner]
    behind = np.arange(1, len(is_leaf))
    is_complete = len(is_leaf) > 0 and np.array_equal(np.sort(below, axis=None), behind)
    if not is_complete or (below <= inner).any():
        return None
    depths = np.zeros(len(is_leaf), dtype=np.int64)
    for node, pair in zip(inner, below.T, strict=True):
        depths[pair] = depths[node] + 1
    return depths


def check_fields(nodes: npt.NDArray[Any], valid: Mapping[str, tuple[float, float]]) -> None:
    """Reject nodes with a field outside its valid range, (least, most)."""
    for name, (least, most) in valid.items():
        values = nodes[name]
        if not ((values >= least) & (values <= most)).all():
            raise WriteampError(f"a saved tree is damaged: {name} of a node is out of range")


def numbers(values: Any, count: int) -> npt.NDArray[np.float64]:
    """Return `count` finite numbers; anything else is a `WriteampError`."""
    array: npt.NDArray[np.float64] = np.array(values, dtype=np.float64)
    if array.shape != (count,) or not np.isfinite(array).all():
        raise WriteampError(f"a list of the saved model must have {count} finite numbers")
    return array


ModelDocument: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Saved:
    """Writer and reader of an estimator's fitted state, without its parameters.

    Attributes:
        estimator: class of the estimator.
        write: function that returns the document of a fitted estimator; its second argument is a
            function that writes models contained in it.
        read: function that restores the fitted state of an estimator from a document; its third
            argument is a function that reads models contained in it.
        domains: domains of the constructor's parameters.
    """

    estimator: Any
    write: Callable[[Any, Callable[[Any], ModelDocument]], ModelDocument]
    read: Callable[[Any, Mapping[str, Any], Callable[[Mapping[str, Any]], Any]], None]
    domains: Mapping[str, Domain] = field(default_factory=dict)


def write_box(model: Any) -> ModelDocument:
    """Return the importances and training ranges of a model's features as a document."""
    return {
        "importances": model.feature_importances_.tolist(),
        "box": [model.box_low_.tolist(), model.box_high_.tolist()],
    }


def read_box(model: Any, document: Mapping[str, Any]) -> None:
    """Set a model's importances and ranges from the document of `write_box`."""
    features = int(document["features"])
    model.feature_importances_ = numbers(document["importances"], features)
    model.box_low_, model.box_high_ = (numbers(end, features) for end in document["box"])


def check_names(names: Any, features: int) -> None:
    """Reject names of features that are not distinct texts, one for each feature."""
    is_list = isinstance(names, list | tuple) and all(isinstance(name, str) for name in names)
    if not is_list or len(set(names)) != len(names) or len(names) != features:
        raise WriteampError(f"the saved model must have {features} different names of features")


# Up to this number of rows, `folds_of_few` applies, as models still improve much with more rows.
_FEW_ROWS = 400


@dataclass(frozen=True)
class Learner:
    """A kind of model; `model_kinds` has its name and summary.

    Attributes:
        make: function that returns an unfitted estimator; its arguments are whether to fit the
            logarithm of the target, and the names of the features.
        folds: number of folds of the cross-validation for its prediction intervals; None for a
            forest, which has out-of-bag predictions.
        folds_of_few: number of folds if there are few rows; None for the same number. More folds
            help a model that is much worse without a fifth of the rows, as its intervals would be
            too wide.
        saved: how its estimator is saved; None for estimators of scikit-learn or of another
            learner.
        restores: how each class of scikit-learn in its estimator is restored. No other class is
            loaded or saved.
    """

    make: Callable[[bool, Sequence[str]], BaseEstimator]
    folds: int | None = 5
    folds_of_few: int | None = None
    saved: Saved | None = None
    restores: Mapping[type[BaseEstimator], Restore] = field(default_factory=dict)

    def folds_for(self, rows: int) -> int | None:
        """Return the number of folds of the cross-validation for this number of rows."""
        return (rows <= _FEW_ROWS and self.folds_of_few) or self.folds


def baseline(
    make: Callable[[], BaseEstimator], restores: Mapping[type[BaseEstimator], Restore]
) -> Learner:
    """Return the learner of a scikit-learn estimator, with or without logarithms."""
    return Learner(
        lambda is_log, _: (
            TransformedTargetRegressor(make(), func=np.log, inverse_func=np.exp)
            if is_log
            else make()
        ),
        restores={**restores, TransformedTargetRegressor: _restore_transformed},
    )


def _restore_transformed(
    model: TransformedTargetRegressor, state: Mapping[str, Any], rebuilt: Callable[[Any], Any]
) -> None:
    functions = (model.func, model.inverse_func)
    if model.transformer is not None or functions not in ((np.log, np.exp), (None, None)):
        raise WriteampError("the saved model must predict its target or the target's logarithm")
    if "regressor_" in state:
        fitted = clone(model).set_params(regressor=LinearRegression()).fit([[0], [0]], [1, 2])
        model.transformer_, model._training_dim = fitted.transformer_, 1
        model.regressor_ = rebuilt(state["regressor_"])
