"""Boosted trees with constant leaves, a baseline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor

from writeamp.errors import WriteampError
from writeamp.learn.blackbox.models.learner import baseline
from writeamp.learn.blackbox.models.restoring import FINITE, check_fields, depths_of, of_fitted
from writeamp.learn.blackbox.models.tree_document import numbers


def _restore(model: HistGradientBoostingRegressor, state: Mapping[str, Any], features: int) -> None:
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
    if nodes.dtype != dtype or nodes.ndim != 1:
        raise WriteampError("the nodes of its tree are not those of this scikit-learn")
    flags = ("is_leaf", "missing_go_to_left")
    check_fields(nodes, dict.fromkeys(flags, (0, 1)) | {"is_categorical": (0, 0)})
    depths = depths_of(nodes["is_leaf"] == 1, nodes["left"], nodes["right"])
    if depths is None or not np.array_equal(depths, nodes["depth"]):
        raise WriteampError("the nodes of its tree do not hold together")
    check_fields(nodes, {"value": FINITE, "gain": FINITE, "count": (1, np.inf)})
    inner = {"feature_idx": (0, features - 1), "num_threshold": (-np.inf, np.inf)}
    check_fields(nodes[nodes["is_leaf"] == 0], inner)
    return nodes


LEARNER = baseline(
    lambda: HistGradientBoostingRegressor(max_iter=200, random_state=0),
    {
        HistGradientBoostingRegressor: of_fitted(
            _restore, max_iter=1, early_stopping=False, verbose=0
        )
    },
)
