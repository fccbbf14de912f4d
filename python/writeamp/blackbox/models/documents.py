"""Fitted models as JSON documents and back, exactly.

A number is written with all its digits. Reading a document runs nothing that it says: it can name
one of the kinds below, and fill in numbers that are checked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator

from writeamp.blackbox.models.conformal import ConformalRegressor
from writeamp.blackbox.models.gaussian_process import GaussianProcessRegressor
from writeamp.blackbox.models.linear_forest import LinearForestRegressor
from writeamp.blackbox.models.linear_tree import LinearTreeRegressor
from writeamp.blackbox.models.packing import packed, unpacked
from writeamp.blackbox.models.process_document import process_from, process_to
from writeamp.blackbox.models.tree_document import numbers, tree_from, tree_to
from writeamp.blackbox.models.workload_specific import WorkloadSpecificRegressor
from writeamp.errors import WriteampError, unknown

Document: TypeAlias = dict[str, Any]

_SKOPS = "scikit-learn"


def to_document(model: Any) -> Document:
    """Return a fitted model as a document of texts, numbers, lists and tables.

    Raises:
        WriteampError: the model is of no kind that can be saved.
    """
    for name, kind in _KINDS.items():
        if type(model) is kind.estimator:
            found = {"kind": name, "parameters": _parameters(model), **kind.write(model)}
            found["features"] = int(model.n_features_in_)
            if hasattr(model, "feature_names_in_"):
                found["names"] = [str(one) for one in model.feature_names_in_]
            return found
    if not type(model).__module__.startswith("sklearn."):
        raise WriteampError(
            f"a {type(model).__name__} cannot be saved; valid are "
            f"{', '.join(_KINDS)} and estimators of scikit-learn"
        )
    return {"kind": _SKOPS, "skops": packed(model)}


def from_document(document: Mapping[str, Any]) -> Any:
    """Return the model that `to_document` wrote.

    Raises:
        WriteampError: it is no such document: a kind, a key, a type or a number is not valid.
    """
    try:
        return _from(document)
    except WriteampError:
        raise
    except (TypeError, ValueError, KeyError, IndexError, AttributeError, OverflowError) as error:
        raise WriteampError(f"the document is no saved model: {_shown(error)}") from None


def _from(document: Mapping[str, Any]) -> Any:
    name = document["kind"]
    if name == _SKOPS:
        return unpacked(document["skops"])
    if name not in _KINDS:
        raise unknown("kind of saved model", str(name), [*_KINDS, _SKOPS])
    kind = _KINDS[name]
    model = kind.estimator(**_given(document["parameters"]))
    kind.read(model, document)
    model.n_features_in_ = int(document["features"])
    if "names" in document:
        model.feature_names_in_ = np.array(document["names"], dtype=object)
    return model


def _shown(error: Exception) -> str:
    text = " ".join(str(error).split())
    return f"the key {text} is missing" if isinstance(error, KeyError) else text


def _parameters(model: BaseEstimator) -> Document:
    """Return the parameters that a model was made with; models among them as documents."""
    found: Document = {}
    for name, value in model.get_params(deep=False).items():
        if isinstance(value, BaseEstimator):
            found[name] = {"unfitted": _unfitted(value)}
        else:
            found[name] = list(value) if isinstance(value, tuple) else value
    return found


def _unfitted(model: BaseEstimator) -> Document:
    for name, kind in _KINDS.items():
        if type(model) is kind.estimator:
            return {"kind": name, "parameters": _parameters(model)}
    return to_document(model)


def _given(parameters: Mapping[str, Any]) -> Document:
    found: Document = {}
    for name, value in parameters.items():
        if not isinstance(value, Mapping):
            found[name] = value
            continue
        inner = value["unfitted"]
        if inner["kind"] == _SKOPS:
            found[name] = unpacked(inner["skops"])
        else:
            found[name] = _KINDS[inner["kind"]].estimator(**_given(inner["parameters"]))
    return found


def _write_box(model: Any) -> Document:
    return {
        "importances": model.feature_importances_.tolist(),
        "box": [model.box_low_.tolist(), model.box_high_.tolist()],
    }


def _read_box(model: Any, document: Mapping[str, Any]) -> None:
    features = int(document["features"])
    model.feature_importances_ = numbers(document["importances"], features)
    model.box_low_, model.box_high_ = (numbers(end, features) for end in document["box"])


def _write_tree(model: LinearTreeRegressor) -> Document:
    return {"tree": tree_to(model.tree_), **_write_box(model)}


def _read_tree(model: LinearTreeRegressor, document: Mapping[str, Any]) -> None:
    model.tree_ = tree_from(document["tree"], int(document["features"]))
    _read_box(model, document)


def _write_forest(model: LinearForestRegressor) -> Document:
    trees = [tree_to(tree) for tree in model.trees_]
    return {"trees": trees, "spread_scale": model.spread_scale_, **_write_box(model)}


def _read_forest(model: LinearForestRegressor, document: Mapping[str, Any]) -> None:
    model.trees_ = [tree_from(one, int(document["features"])) for one in document["trees"]]
    (model.spread_scale_,) = numbers([document["spread_scale"]], 1).tolist()
    _read_box(model, document)


def _write_process(model: GaussianProcessRegressor) -> Document:
    return {**process_to(model), **_write_box(model)}


def _read_process(model: GaussianProcessRegressor, document: Mapping[str, Any]) -> None:
    process_from(model, document)
    _read_box(model, document)


def _write_conformal(model: ConformalRegressor) -> Document:
    return {
        "model": to_document(model.estimator_),
        "edges": model.edges_.tolist(),
        "widths": model.widths_.tolist(),
        "floor": model.floor_,
        "box": [model.box_low_.tolist(), model.box_high_.tolist()],
    }


def _read_conformal(model: ConformalRegressor, document: Mapping[str, Any]) -> None:
    model.estimator_ = _from(document["model"])
    model.edges_ = numbers(document["edges"], len(document["edges"]))
    model.widths_ = numbers(document["widths"], len(model.edges_) + 1)
    (model.floor_,) = numbers([document["floor"]], 1).tolist()
    features = int(document["features"])
    model.box_low_, model.box_high_ = (numbers(end, features) for end in document["box"])


def _write_specific(model: WorkloadSpecificRegressor) -> Document:
    return {"models": {name: to_document(one) for name, one in model.models_.items()}}


def _read_specific(model: WorkloadSpecificRegressor, document: Mapping[str, Any]) -> None:
    model.models_ = {name: _from(one) for name, one in document["models"].items()}


@dataclass(frozen=True)
class _Kind:
    """Writer and reader of what one kind of model has learnt."""

    estimator: Any
    write: Callable[[Any], Document]
    read: Callable[[Any, Mapping[str, Any]], None]


_KINDS = {
    "linear-tree": _Kind(LinearTreeRegressor, _write_tree, _read_tree),
    "linear-forest": _Kind(LinearForestRegressor, _write_forest, _read_forest),
    "gaussian-process": _Kind(GaussianProcessRegressor, _write_process, _read_process),
    "conformal": _Kind(ConformalRegressor, _write_conformal, _read_conformal),
    "workload-specific": _Kind(WorkloadSpecificRegressor, _write_specific, _read_specific),
}
