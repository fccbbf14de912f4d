"""The mean of many trees with linear models in their leaves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from writeamp.errors import WriteampError
from writeamp.learn.blackbox.models.learner import Learner
from writeamp.learn.blackbox.models.linear_forest import LinearForestRegressor
from writeamp.learn.blackbox.models.parameters import FOREST
from writeamp.learn.blackbox.models.saving import Document, Saved, read_box, write_box
from writeamp.learn.blackbox.models.tree_document import numbers, tree_from, tree_to


def _write(model: LinearForestRegressor, _: object) -> Document:
    trees = [tree_to(tree) for tree in model.trees_]
    return {"trees": trees, "spread_scale": model.spread_scale_, **write_box(model)}


def _read(model: LinearForestRegressor, document: Mapping[str, Any], _: object) -> None:
    model.trees_ = [tree_from(one, int(document["features"])) for one in document["trees"]]
    (model.spread_scale_,) = numbers([document["spread_scale"]], 1).tolist()
    read_box(model, document)
    if len(model.trees_) != model.n_estimators:
        raise WriteampError(f"it has {len(model.trees_)} of its {model.n_estimators} trees")


LEARNER = Learner(
    lambda is_log, _: LinearForestRegressor(log_target=is_log),
    folds=None,
    saved=Saved(LinearForestRegressor, _write, _read, FOREST),
)
