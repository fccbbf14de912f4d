"""The tree with linear models in its leaves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from writeamp.learn.blackbox.models.learner import Learner
from writeamp.learn.blackbox.models.linear_tree import LinearTreeRegressor
from writeamp.learn.blackbox.models.parameters import TREE
from writeamp.learn.blackbox.models.saving import Document, Saved, read_box, write_box
from writeamp.learn.blackbox.models.tree_document import tree_from, tree_to


def _write(model: LinearTreeRegressor, _: object) -> Document:
    return {"tree": tree_to(model.tree_), **write_box(model)}


def _read(model: LinearTreeRegressor, document: Mapping[str, Any], _: object) -> None:
    model.tree_ = tree_from(document["tree"], int(document["features"]))
    read_box(model, document)


LEARNER = Learner(
    lambda is_log, _: LinearTreeRegressor(log_target=is_log),
    saved=Saved(LinearTreeRegressor, _write, _read, TREE),
)
