"""A tree with constant leaves, a baseline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeRegressor

from writeamp.errors import WriteampError
from writeamp.learn.blackbox.models.learner import baseline
from writeamp.learn.blackbox.models.restoring import FINITE, check_fields, depths_of, of_fitted
from writeamp.learn.blackbox.models.tree_document import numbers

_LEAF = -1


def _restore(model: DecisionTreeRegressor, state: Mapping[str, Any], features: int) -> None:
    saved = state["tree_"].attributes
    nodes, blank = np.asarray(saved["nodes"]), model.tree_
    if nodes.dtype != blank.__getstate__()["nodes"].dtype or nodes.ndim != 1:
        raise WriteampError("the nodes of its tree are not those of this scikit-learn")
    is_leaf = nodes["left_child"] == _LEAF
    depths = depths_of(is_leaf, nodes["left_child"], nodes["right_child"])
    if depths is None:
        raise WriteampError("the nodes of its tree do not hold together")
    check_fields(nodes[is_leaf], {"right_child": (_LEAF, _LEAF)})
    inner = {"feature": (0, features - 1), "threshold": (-np.inf, np.inf)}
    check_fields(nodes[~is_leaf], inner)
    check_fields(nodes, {"n_node_samples": (1, np.inf), "weighted_n_node_samples": (1, FINITE[1])})
    check_fields(nodes, {"impurity": FINITE, "missing_go_to_left": (0, 1)})
    # A tree of its own: `__setstate__` does not resize one that has nodes.
    model.tree_ = type(blank)(features, np.ones(1, dtype=np.intp), 1)
    model.tree_.__setstate__(
        {
            "max_depth": int(depths.max()),
            "node_count": len(nodes),
            "nodes": nodes,
            "values": numbers(np.ravel(saved["values"]), len(nodes)).reshape(-1, 1, 1),
        }
    )


LEARNER = baseline(
    lambda: DecisionTreeRegressor(min_samples_leaf=3, random_state=0),
    {DecisionTreeRegressor: of_fitted(_restore)},
)
