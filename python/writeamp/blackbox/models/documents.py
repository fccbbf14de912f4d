"""Fitted models as JSON documents and back, exactly.

A number is written with all its digits. Reading a document runs nothing that it says: it can name
one of the kinds below, and fill in numbers that are checked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from writeamp.blackbox.models.conformal import ConformalRegressor
from writeamp.blackbox.models.packing import packed, unpacked
from writeamp.blackbox.models.prior import SAVED_PRIOR
from writeamp.blackbox.models.registry import MODELS
from writeamp.blackbox.models.saving import Document, Saved
from writeamp.blackbox.models.tree_document import numbers
from writeamp.errors import WriteampError, unknown

_SKOPS = "scikit-learn"


def to_document(model: Any) -> Document:
    """Return a fitted model as a document of texts, numbers, lists and tables.

    Raises:
        WriteampError: the model is of no kind that can be saved.
    """
    for name, kind in _KINDS.items():
        if type(model) is kind.estimator:
            found = {
                "kind": name,
                "parameters": _parameters(model),
                **kind.write(model, to_document),
            }
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
    kind.read(model, document, _from)
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


def _write_conformal(model: ConformalRegressor, write: Callable[[Any], Document]) -> Document:
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


# An estimator that two learners share is saved under the name of the first.
_KINDS: dict[str, Saved] = {
    **{name: one.saved for name, one in MODELS.items() if one.saved is not None},
    "conformal": Saved(ConformalRegressor, _write_conformal, _read_conformal),
    "prior": SAVED_PRIOR,
}
