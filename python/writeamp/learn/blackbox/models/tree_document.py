"""Trees as documents and back, each number with all its digits."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from writeamp.errors import WriteampError
from writeamp.learn.blackbox.models.parameters import GROWTH
from writeamp.learn.blackbox.models.restoring import depths_of
from writeamp.learn.blackbox.models.terms import Terms
from writeamp.learn.blackbox.models.tree import LEAF, Tree

F64 = npt.NDArray[np.float64]

_WHOLE = ("feature", "left", "right", "rows")
_REAL = ("threshold", "intercept", "coefficients", "low", "high")


def tree_to(tree: Tree) -> dict[str, Any]:
    """Return a tree as lists of numbers."""
    found = {name: getattr(tree, name).tolist() for name in (*_WHOLE, *_REAL)}
    return found | {"terms": dataclasses.asdict(tree.terms)}


def tree_from(document: Mapping[str, Any], features: int) -> Tree:
    """Return the tree that `tree_to` wrote, of so many features.

    Raises:
        WriteampError: a number is not finite, or the nodes are no tree that `fit` can grow.
        KeyError, TypeError, ValueError: the document has another form.
    """
    given = document["terms"]
    arrays: dict[str, Any] = {name: np.array(document[name], dtype=np.int64) for name in _WHOLE}
    arrays |= {name: np.array(document[name], dtype=np.float64) for name in _REAL}
    logs, units = tuple(map(int, given["logs"])), tuple(map(float, given["units"]))
    tree = Tree(**arrays, terms=Terms(features, logs, units))
    depths = depths_of(tree.feature == LEAF, tree.left, tree.right) if _is_sound(tree) else None
    if given["features"] != features or depths is None:
        raise WriteampError("its tree does not hold together")
    GROWTH["max_depth"].check("the depth of its tree", depths.max())
    return tree


def _is_sound(tree: Tree) -> bool:
    """Return whether the lists of a tree fit each other, and it predicts finite numbers."""
    size, width = len(tree.feature), tree.terms.features + len(tree.terms.logs)
    lines = [tree.threshold, tree.left, tree.right, tree.rows, tree.intercept, tree.low, tree.high]
    if size == 0 or any(line.shape != (size,) for line in [tree.feature, *lines]):
        return False
    return bool(
        tree.coefficients.shape == (size, width)
        and all(np.isfinite(line).all() for line in [*lines, tree.coefficients])
        and len(tree.terms.logs) == len(tree.terms.units)
        and all(0 <= one < tree.terms.features for one in tree.terms.logs)
        and all(0 < unit < np.inf for unit in tree.terms.units)
        and ((tree.feature >= LEAF) & (tree.feature < tree.terms.features)).all()
        and (tree.low <= tree.high).all()
        and (tree.rows >= 0).all()
    )
