"""Baselines of scikit-learn as text and back, in archives of skops.

They are rebuilt from what the archive says in numbers, because scikit-learn's compiled code walks
what it is given without looking. The learners of the registry say which classes, and how.
"""

from __future__ import annotations

import base64
import inspect
from typing import Any

import numpy as np
import skops.io
from sklearn.base import BaseEstimator

from writeamp.errors import WriteampError
from writeamp.learn.blackbox.models.archives import Archived, read_archive
from writeamp.learn.blackbox.models.registry import MODELS

_RESTORES = {
    f"{kind.__module__}.{kind.__qualname__}": (kind, restore)
    for learner in MODELS.values()
    for kind, restore in learner.restores.items()
}
_FUNCTIONS = {"numpy.log": np.log, "numpy.exp": np.exp}


def packed(model: BaseEstimator) -> str:
    """Return a model of scikit-learn as text.

    Raises:
        WriteampError: it holds what `unpacked` would refuse.
    """
    data = skops.io.dumps(model)
    _rebuilt(read_archive(data))
    return base64.b64encode(data).decode("ascii")


def unpacked(text: str) -> Any:
    """Return the model that `packed` wrote.

    Raises:
        WriteampError: it holds other types than the baselines do, or numbers that do not fit.
        ValueError: the text is not what `packed` writes.
    """
    found = _rebuilt(read_archive(base64.b64decode(text, validate=True)))
    if not isinstance(found, BaseEstimator):
        raise WriteampError("its archive holds no model")
    return found


def _rebuilt(value: Any) -> Any:
    """Return estimators and functions for those in an archive, and other values as they are."""
    if isinstance(value, (list, tuple)):
        return type(value)(_rebuilt(item) for item in value)
    if not isinstance(value, Archived):
        return value
    if value.path in _FUNCTIONS:
        return _FUNCTIONS[value.path]
    if value.path not in _RESTORES:
        raise WriteampError(f"a model that holds {value.path} cannot be saved or loaded safely")
    kind, restore = _RESTORES[value.path]
    state = value.attributes
    parameters = [name for name in inspect.signature(kind).parameters if name in state]
    model = kind(**{name: _parameter(state[name]) for name in parameters})
    restore(model, state, _rebuilt)
    if "feature_names_in_" in state:
        names = list(state["feature_names_in_"])
        if len(names) != model.n_features_in_ or not all(isinstance(one, str) for one in names):
            raise WriteampError(f"the names of its features are not {model.n_features_in_}")
        model.feature_names_in_ = np.array(names, dtype=object)
    return model


def _parameter(value: Any) -> Any:
    if isinstance(value, dict | np.ndarray):
        raise WriteampError("it has a parameter that is no number, text or estimator")
    return _rebuilt(value)
