"""Baselines of scikit-learn and LightGBM: trees with constant leaves, and boosted trees."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor
from sklearn.tree import DecisionTreeRegressor

from writeamp.errors import WriteampError, how_to_install
from writeamp.learn.blackbox.models.learner import (
    FINITE,
    baseline,
    check_fields,
    depths_of,
    numbers,
    of_fitted,
)

_LEAF = -1


def _restore_tree(model: DecisionTreeRegressor, state: Mapping[str, Any], features: int) -> None:
    saved = state["tree_"].attributes
    nodes, blank = np.asarray(saved["nodes"]), model.tree_
    _check_type(nodes, blank.__getstate__()["nodes"].dtype)
    is_leaf = nodes["left_child"] == _LEAF
    depths = depths_of(is_leaf, nodes["left_child"], nodes["right_child"])
    if depths is None:
        raise WriteampError("the nodes of the saved tree are inconsistent")
    check_fields(nodes[is_leaf], {"right_child": (_LEAF, _LEAF)})
    inner = {"feature": (0, features - 1), "threshold": (-np.inf, np.inf)}
    check_fields(nodes[~is_leaf], inner)
    check_fields(nodes, {"n_node_samples": (1, np.inf), "weighted_n_node_samples": (1, FINITE[1])})
    check_fields(nodes, {"impurity": FINITE, "missing_go_to_left": (0, 1)})
    # A new tree is made, because `__setstate__` does not resize a tree that has nodes.
    model.tree_ = type(blank)(features, np.ones(1, dtype=np.intp), 1)
    model.tree_.__setstate__(
        {
            "max_depth": int(depths.max()),
            "node_count": len(nodes),
            "nodes": nodes,
            "values": numbers(np.ravel(saved["values"]), len(nodes)).reshape(-1, 1, 1),
        }
    )


def _restore_boosted(
    model: HistGradientBoostingRegressor, state: Mapping[str, Any], features: int
) -> None:
    blank = model._predictors[0][0]
    stages = [predictor.attributes["nodes"] for (predictor,) in state["_predictors"]]
    model._predictors = [
        [
            TreePredictor(
                _sound(np.asarray(nodes), blank.nodes.dtype, features),
                blank.binned_left_cat_bitsets,
                blank.raw_left_cat_bitsets,
            )
        ]
        for nodes in stages
    ]
    model._baseline_prediction = numbers(np.ravel(state["_baseline_prediction"]), 1).reshape(1, 1)


def _sound(nodes: npt.NDArray[Any], dtype: np.dtype[Any], features: int) -> npt.NDArray[Any]:
    _check_type(nodes, dtype)
    flags = ("is_leaf", "missing_go_to_left")
    check_fields(nodes, dict.fromkeys(flags, (0, 1)) | {"is_categorical": (0, 0)})
    depths = depths_of(nodes["is_leaf"] == 1, nodes["left"], nodes["right"])
    if depths is None or not np.array_equal(depths, nodes["depth"]):
        raise WriteampError("the nodes of the saved tree are inconsistent")
    check_fields(nodes, {"value": FINITE, "gain": FINITE, "count": (1, np.inf)})
    inner = {"feature_idx": (0, features - 1), "num_threshold": (-np.inf, np.inf)}
    check_fields(nodes[nodes["is_leaf"] == 0], inner)
    return nodes


def _check_type(nodes: npt.NDArray[Any], dtype: np.dtype[Any]) -> None:
    if nodes.dtype != dtype or nodes.ndim != 1:
        raise WriteampError(
            "the saved tree was written by a scikit-learn with another layout of nodes; "
            "fit the model again"
        )


def _lightgbm() -> Any:
    try:
        from lightgbm import LGBMRegressor  # noqa: PLC0415 (an extra)
    except ModuleNotFoundError:
        raise WriteampError(
            f"the model lightgbm needs a package; run: {how_to_install('lightgbm')}"
        ) from None
    return LGBMRegressor(n_estimators=500, learning_rate=0.05, linear_tree=True, verbose=-1)


CART = baseline(
    lambda: DecisionTreeRegressor(min_samples_leaf=3, random_state=0),
    {DecisionTreeRegressor: of_fitted(_restore_tree)},
)
BOOSTED = baseline(
    lambda: HistGradientBoostingRegressor(max_iter=200, random_state=0),
    {
        HistGradientBoostingRegressor: of_fitted(
            _restore_boosted, max_iter=1, early_stopping=False, verbose=0
        )
    },
)
LIGHTGBM = baseline(_lightgbm, {})
