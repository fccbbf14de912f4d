"""Baselines of scikit-learn as text and back, by skops, which runs nothing that a file says."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import skops.io
from sklearn.base import BaseEstimator
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.tree import DecisionTreeRegressor

from writeamp.errors import WriteampError

# Beside what skops knows as safe: the logarithm of a target, and tables of nodes, whose numbers are
# checked below, because scikit-learn walks them without looking.
_TRUSTED = {
    "numpy.exp",
    "numpy.log",
    "sklearn._loss.link.Interval",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.tree._tree.Tree",
}


def packed(model: BaseEstimator) -> str:
    """Return a model of scikit-learn as text.

    Raises:
        WriteampError: it holds what `unpacked` would refuse.
    """
    data = skops.io.dumps(model)
    _refuse_foreign(data)
    return base64.b64encode(data).decode("ascii")


def unpacked(text: str) -> Any:
    """Return the model that `packed` wrote.

    Raises:
        WriteampError: it holds other types than the baselines do, or nodes that lead nowhere.
        ValueError: the text is not what `packed` writes.
    """
    data = base64.b64decode(text, validate=True)
    try:
        _refuse_foreign(data)
        model = skops.io.loads(data, trusted=sorted(_TRUSTED))
    except WriteampError:
        raise
    except Exception as error:  # whatever a damaged archive leads skops to
        raise WriteampError(f"its archive cannot be read ({type(error).__name__})") from None
    for part in _parts(model):
        if not _is_sound(part):
            raise WriteampError(f"the nodes of its {type(part).__name__} do not hold together")
    return model


def _refuse_foreign(data: bytes) -> None:
    foreign = set(skops.io.get_untrusted_types(data=data)) - _TRUSTED
    if foreign:
        raise WriteampError(f"a model that holds {min(foreign)} cannot be saved or loaded safely")


def _parts(model: Any) -> Iterator[Any]:
    """Give a model and, as what is fitted of it, all that it holds."""
    yield model
    for value in vars(model).values():
        inner = value if isinstance(value, list) else [value]
        for one in inner:
            part = one[1] if isinstance(one, tuple) and len(one) == 2 else one
            if isinstance(part, BaseEstimator):
                yield from _parts(part)


def _is_sound(part: Any) -> bool:
    """Return whether every walk through the nodes ends at a leaf, by features that there are."""
    if isinstance(part, DecisionTreeRegressor) and hasattr(part, "tree_"):
        tree = part.tree_
        is_leaf = tree.children_left == -1
        lead_on = _lead_on(is_leaf, tree.children_left, tree.children_right)
        return lead_on and _are_known(tree.feature[~is_leaf], tree.n_features)
    if isinstance(part, HistGradientBoostingRegressor) and hasattr(part, "_predictors"):
        tables = [predictor.nodes for stage in part._predictors for predictor in stage]
        return all(
            _lead_on(nodes["is_leaf"] == 1, nodes["left"], nodes["right"])
            and _are_known(nodes["feature_idx"], part.n_features_in_)
            and not nodes["is_categorical"].any()
            for nodes in tables
        )
    return True


def _lead_on(is_leaf: Any, left: Any, right: Any) -> bool:
    """Return whether each node lies behind the one that leads to it."""
    places = np.arange(len(is_leaf))
    below = np.array([left, right], dtype=np.int64)
    behind = ((below > places) & (below < len(is_leaf))).all(axis=0)
    return len(is_leaf) > 0 and bool((is_leaf | behind).all())


def _are_known(features: npt.NDArray[Any], count: int) -> bool:
    return bool(((features >= 0) & (features < count)).all())
