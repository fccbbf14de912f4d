"""Exact conversion of fitted models to JSON documents and back.

Numbers are written with all their digits. Reading a document runs no code from it: it only names
one of the kinds of models in `_KINDS`, and its numbers are checked.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from writeamp.errors import WriteampError, unknown
from writeamp.learn.blackbox.model_kinds import check_installed
from writeamp.learn.blackbox.models.archives import packed, unpacked
from writeamp.learn.blackbox.models.checks import CONFORMAL, checked
from writeamp.learn.blackbox.models.conformal import ConformalRegressor
from writeamp.learn.blackbox.models.learner import ModelDocument, Saved, check_names, numbers
from writeamp.learn.blackbox.models.learners import MODELS
from writeamp.learn.blackbox.models.prior import SAVED_PRIOR

_SKOPS = "scikit-learn"
# Errors that occur if a document does not have the expected form.
RAISED_BY_DOCUMENTS = (
    TypeError, ValueError, KeyError, IndexError, AttributeError, OverflowError, RecursionError,
)  # fmt: skip


def to_document(model: Any) -> ModelDocument:
    """Return a fitted model as a document of texts, numbers, lists and tables.

    Raises:
        WriteampError: this kind of model cannot be saved.
    """
    for name, kind in _KINDS.items():
        if type(model) is kind.estimator:
            document = {
                "kind": name,
                "parameters": _parameters(model),
                **kind.write(model, to_document),
            }
            document["features"] = int(model.n_features_in_)
            if hasattr(model, "feature_names_in_"):
                document["names"] = [
                    str(name_of_feature) for name_of_feature in model.feature_names_in_
                ]
            return document
    if not type(model).__module__.startswith("sklearn."):
        raise WriteampError(
            f"a {type(model).__name__} cannot be saved; valid are "
            f"{', '.join(_KINDS)} and the baselines of scikit-learn"
        )
    return {"kind": _SKOPS, "skops": packed(model)}


def from_document(document: Mapping[str, Any]) -> Any:
    """Return the model that `to_document` wrote.

    Raises:
        WriteampError: the document is not valid: a kind, a key, a type or a number.
    """
    try:
        model = _from(document)
        _try(model)
    except WriteampError:
        raise
    except RAISED_BY_DOCUMENTS as error:
        raise WriteampError(f"the document is not a saved model: {_shown(error)}") from None
    return model


def _from(document: Mapping[str, Any]) -> Any:
    if document["kind"] == _SKOPS:
        return unpacked(document["skops"])
    features = int(document["features"])

    def inner(of_model: Mapping[str, Any]) -> Any:
        part_model = _from(of_model)
        if part_model.n_features_in_ != features:
            raise WriteampError(
                f"a model of {features} features contains one of {part_model.n_features_in_}"
            )
        return part_model

    model = _made(document)
    _KINDS[document["kind"]].read(model, document, inner)
    _check_refits(model)
    model.n_features_in_ = features
    if "names" in document:
        check_names(document["names"], features)
        model.feature_names_in_ = np.array(document["names"], dtype=object)
    return model


def _check_refits(model: Any) -> None:
    """Reject a model whose unfitted copy has other parameters, as a refit could then take days."""
    if hasattr(model, "estimator_") and not _are_alike(model.estimator, model.estimator_):
        raise WriteampError("the saved unfitted and fitted models have different parameters")


def _are_alike(value: Any, other: Any) -> bool:
    """Return whether two parameter values are equal; estimators are compared by parameters."""
    if type(value) is not type(other):
        return False
    if not isinstance(value, BaseEstimator):
        return bool(value == other)
    if type(value).__module__.startswith("sklearn."):
        return repr(value) == repr(other)
    others = other.get_params(deep=False)
    return all(_are_alike(own, others[name]) for name, own in value.get_params(deep=False).items())


def _try(model: Any) -> None:
    """Predict two rows, so that inconsistent numbers raise an error now rather than later."""
    rows = np.ones((2, model.n_features_in_))
    if isinstance(model, ConformalRegressor):
        rows = np.array([model.box_low_, model.box_high_])
    with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
        predicted = np.asarray(model.predict(rows))
    if predicted.shape != (2,) or predicted.dtype != np.float64:
        raise WriteampError("the saved model does not predict a number for each row")


def _shown(error: Exception) -> str:
    text = " ".join(str(error).split())
    return f"the key {text} is missing" if isinstance(error, KeyError) else text


def _parameters(model: BaseEstimator) -> ModelDocument:
    """Return the parameters of a model's constructor; models among them become documents."""
    parameters: ModelDocument = {}
    for name, value in model.get_params(deep=False).items():
        if isinstance(value, BaseEstimator):
            parameters[name] = {"unfitted": _unfitted(value)}
        else:
            parameters[name] = list(value) if isinstance(value, tuple) else value
    return parameters


def _unfitted(model: BaseEstimator) -> ModelDocument:
    for name, kind in _KINDS.items():
        if type(model) is kind.estimator:
            return {"kind": name, "parameters": _parameters(model)}
    return to_document(model)


def _given(parameters: Mapping[str, Any]) -> ModelDocument:
    arguments: ModelDocument = {}
    for name, value in parameters.items():
        if not isinstance(value, Mapping):
            arguments[name] = value
            continue
        inner = value["unfitted"]
        arguments[name] = unpacked(inner["skops"]) if inner["kind"] == _SKOPS else _made(inner)
    return arguments


def _made(document: Mapping[str, Any]) -> Any:
    """Return the unfitted estimator of a document."""
    name = document["kind"]
    if name not in _KINDS:
        check_installed(str(name))
        raise unknown("kind of saved model", str(name), [*_KINDS, _SKOPS])
    model = _KINDS[name].estimator(**_given(document["parameters"]))
    checked(model, _KINDS[name].domains)
    if hasattr(model, "n_jobs"):
        model.n_jobs = None  # the saved number of processes was chosen for another machine
    return model


def _write_conformal(
    model: ConformalRegressor, write: Callable[[Any], ModelDocument]
) -> ModelDocument:
    return {
        "model": write(model.estimator_),
        "edges": model.edges_.tolist(),
        "widths": model.widths_.tolist(),
        "floor": model.floor_,
        "box": [model.box_low_.tolist(), model.box_high_.tolist()],
    }


def _read_conformal(
    model: ConformalRegressor,
    document: Mapping[str, Any],
    read: Callable[[Mapping[str, Any]], Any],
) -> None:
    model.estimator_ = read(document["model"])
    model.edges_ = numbers(document["edges"], len(document["edges"]))
    model.widths_ = numbers(document["widths"], len(model.edges_) + 1)
    (model.floor_,) = numbers([document["floor"]], 1).tolist()
    features = int(document["features"])
    model.box_low_, model.box_high_ = (numbers(end, features) for end in document["box"])
    is_ordered = (np.diff(model.edges_) > 0).all() and (model.box_low_ <= model.box_high_).all()
    if not is_ordered or (model.widths_ < 0).any() or (model.relative and model.floor_ <= 0):
        raise WriteampError(
            "the saved prediction intervals are damaged: edges or widths are not valid"
        )


# Kinds of models by name. An estimator class that two learners share has the first learner's name.
_KINDS: dict[str, Saved] = {
    **{name: learner.saved for name, learner in MODELS.items() if learner.saved is not None},
    "conformal": Saved(ConformalRegressor, _write_conformal, _read_conformal, CONFORMAL),
    "prior": SAVED_PRIOR,
}
