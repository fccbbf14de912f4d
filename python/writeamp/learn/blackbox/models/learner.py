"""Learner: a kind of model, how its estimator is made, and how it is saved and restored."""

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

# Gives an unfitted estimator what an archive says of a fitted one; the third argument rebuilds
# estimators in it.
Restore: TypeAlias = Callable[[Any, Mapping[str, Any], Callable[[Any], Any]], None]

# From the least to the greatest number that is finite.
FINITE = (-float(np.finfo(np.float64).max), float(np.finfo(np.float64).max))
# Ten times as many as any set of features has, and few enough for the memory of a blank fit.
_FEATURES = Whole(1, 1000)


def of_fitted(restore: Callable[[Any, Mapping[str, Any], int], None], **quickly: Any) -> Restore:
    """Return the `Restore` of an estimator that holds no others.

    Args:
        restore: gives an estimator, which is fitted to blank rows of the third argument's number of
            features, what predictions depend on. It is left out if the saved one was not fitted.
        quickly: parameters of the blank fit, so that it ends whatever the saved ones are.
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
    """Return the depth of each node of a tree, shape (nodes,); None if the nodes are no tree.

    Each node but the root is below one other, and behind it in the arrays: then every walk ends.
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
    """Refuse nodes of which a field has a number that is not from the first to the second."""
    for name, (least, most) in valid.items():
        values = nodes[name]
        if not ((values >= least) & (values <= most)).all():
            raise WriteampError(f"the nodes of its tree do not hold together: {name} is not valid")


def numbers(values: Any, count: int) -> npt.NDArray[np.float64]:
    """Return so many finite numbers; anything else is a `WriteampError`."""
    found: npt.NDArray[np.float64] = np.array(values, dtype=np.float64)
    if found.shape != (count,) or not np.isfinite(found).all():
        raise WriteampError(f"its numbers are not {count} finite ones")
    return found


Document: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Saved:
    """Writer and reader of what an estimator has learnt, beside its parameters.

    Attributes:
        estimator: its class.
        write: returns the document of a fitted one; the other argument does that for models in it.
        read: gives an unfitted one what a document says, with the inverse of that argument.
        domains: of the parameters that it is made with.
    """

    estimator: Any
    write: Callable[[Any, Callable[[Any], Document]], Document]
    read: Callable[[Any, Mapping[str, Any], Callable[[Mapping[str, Any]], Any]], None]
    domains: Mapping[str, Domain] = field(default_factory=dict)


def write_box(model: Any) -> Document:
    """Return what models of ours know of their features: their importances and ranges."""
    return {
        "importances": model.feature_importances_.tolist(),
        "box": [model.box_low_.tolist(), model.box_high_.tolist()],
    }


def read_box(model: Any, document: Mapping[str, Any]) -> None:
    """Give a model what `write_box` returned."""
    features = int(document["features"])
    model.feature_importances_ = numbers(document["importances"], features)
    model.box_low_, model.box_high_ = (numbers(end, features) for end in document["box"])


def check_names(names: Any, features: int) -> None:
    """Refuse names of features that are not one different text for each."""
    is_list = isinstance(names, list | tuple) and all(isinstance(name, str) for name in names)
    if not is_list or len(set(names)) != len(names) or len(names) != features:
        raise WriteampError(f"its names of features are not {features} different ones")


# Models learn fast from so many rows.
_FEW_ROWS = 400


@dataclass(frozen=True)
class Learner:
    """A kind of model; `kinds` has its name, and says what it is.

    Attributes:
        make: returns an estimator that is yet to be fitted; its arguments say whether to fit the
            logarithm of the target, and what the features are called.
        folds: of the cross-validation that its prediction intervals follow from; None for a forest,
            which has out-of-bag predictions.
        folds_of_few: the same of few rows, for a model that is clearly worse without a fifth of
            them, so that its intervals would be too wide; None for as many.
        saved: how its estimator is saved; None if that is one of scikit-learn's, or another's.
        restores: how each class of scikit-learn in its estimator is restored when it is loaded.
            No other class is loaded or saved.
    """

    make: Callable[[bool, Sequence[str]], BaseEstimator]
    folds: int | None = 5
    folds_of_few: int | None = None
    saved: Saved | None = None
    restores: Mapping[type[BaseEstimator], Restore] = field(default_factory=dict)

    def folds_for(self, rows: int) -> int | None:
        """Return the folds of the cross-validation of so many rows."""
        return (rows <= _FEW_ROWS and self.folds_of_few) or self.folds


def baseline(
    make: Callable[[], BaseEstimator], restores: Mapping[type[BaseEstimator], Restore]
) -> Learner:
    """Return the learner that an estimator of others is, with or without logarithms."""
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
        raise WriteampError("its target is neither as it is nor a logarithm")
    if "regressor_" in state:
        fitted = clone(model).set_params(regressor=LinearRegression()).fit([[0], [0]], [1, 2])
        model.transformer_, model._training_dim = fitted.transformer_, 1
        model.regressor_ = rebuilt(state["regressor_"])
