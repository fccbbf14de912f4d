"""Grown and pruned tree as arrays of its nodes, for predictions, printing and saving."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from writeamp.errors import WriteampError
from writeamp.learn.blackbox.models.checks import GROWTH
from writeamp.learn.blackbox.models.learner import depths_of
from writeamp.learn.blackbox.models.terms import Terms

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

LEAF = -1
# Rows predicted at once: enough for many rows per leaf, and few enough for the processor's cache.
_CHUNK_ROWS = 1 << 17
_INDENT = "|   "
# Saved fields of a tree that hold whole numbers, and those that hold real numbers.
_WHOLE = ("feature", "left", "right", "rows")
_REAL = ("threshold", "intercept", "coefficients", "low", "high")


@dataclass(frozen=True)
class Tree:
    """Tree as arrays of its nodes: the root is first, and parents precede children.

    Attributes:
        feature: feature on which each node is split, or `LEAF`; shape (nodes,), as all arrays here
            except `coefficients`.
        threshold: rows with values of the feature up to it go to the left child.
        left, right: indices of the children, or `LEAF`.
        rows: number of training rows that reached the node.
        intercept: constant of the node's linear model.
        coefficients: coefficients of the node's linear model, by term; shape (nodes, terms).
        low, high: bounds to which the node's predictions are clipped.
        terms: definition of the terms.
    """

    feature: I64
    threshold: F64
    left: I64
    right: I64
    rows: I64
    intercept: F64
    coefficients: F64
    low: F64
    high: F64
    terms: Terms

    def predict(self, features: F64) -> F64:
        """Return the prediction for each row of features; shape (rows,)."""
        predictions = np.empty(len(features))
        for begin in range(0, len(features), _CHUNK_ROWS):
            chunk = np.asfortranarray(features[begin : begin + _CHUNK_ROWS])
            self._predict_chunk(chunk, predictions[begin : begin + _CHUNK_ROWS])
        return predictions

    def apply(self, features: F64) -> I64:
        """Return the leaf that each row of features reaches; shape (rows,)."""
        leaves = np.empty(len(features), dtype=np.int64)
        for leaf, rows in self._leaves_of(features):
            leaves[rows] = leaf
        return leaves

    def _predict_chunk(self, features: F64, predictions: F64) -> None:
        columns = self.terms.of(features)
        for leaf, rows in self._leaves_of(features):
            values = np.full(len(rows), self.intercept[leaf])
            for term in np.flatnonzero(self.coefficients[leaf]):
                values += self.coefficients[leaf, term] * columns[rows, term]
            predictions[rows] = np.clip(values, self.low[leaf], self.high[leaf])

    def _leaves_of(self, features: F64) -> Iterator[tuple[int, I64]]:
        """Yield each leaf that any row reaches, and the rows that reach it."""
        waiting = [(0, np.arange(len(features)))]
        while waiting:
            node, rows = waiting.pop()
            if self.feature[node] == LEAF:
                yield node, rows
                continue
            is_left = features[rows, self.feature[node]] <= self.threshold[node]
            for below, those in ((self.left, rows[is_left]), (self.right, rows[~is_left])):
                if len(those):
                    waiting.append((int(below[node]), those))


def text_of(tree: Tree, names: Sequence[str], *, is_log: bool) -> str:
    """Return the tree as text: a line for each rule, with nodes indented below their parents.

    Args:
        tree: a tree.
        names: names of the features.
        is_log: whether the tree predicts the logarithm of the target.
    """
    target = "log(y)" if is_log else "y"
    lines = []
    waiting = [(0, 0, "")]
    while waiting:
        node, depth, rule = waiting.pop()
        if rule:
            lines.append(_INDENT * (depth - 1) + rule)
        if tree.feature[node] == LEAF:
            equation = f"{target} = {_equation(tree, node, names)}  ({tree.rows[node]} rows)"
            lines.append(_INDENT * depth + equation)
            continue
        name, threshold = names[tree.feature[node]], f"{tree.threshold[node]:.6g}"
        for sign, below in ((">", tree.right[node]), ("<=", tree.left[node])):
            waiting.append((int(below), depth + 1, f"{name} {sign} {threshold}"))
    return "\n".join(lines) + "\n"


def _equation(tree: Tree, leaf: int, names: Sequence[str]) -> str:
    parts = [f"{tree.intercept[leaf]:.6g}"]
    for term in np.flatnonzero(tree.coefficients[leaf]):
        slope = tree.coefficients[leaf, term]
        sign = "+" if slope > 0 else "-"
        parts.append(f"{sign} {abs(slope):.6g} * {_term(tree, int(term), names)}")
    low, high = tree.low[leaf], tree.high[leaf]
    return f"{' '.join(parts)}, within {low:.6g} to {high:.6g}"


def _term(tree: Tree, term: int, names: Sequence[str]) -> str:
    name = names[tree.terms.origin(term)]
    if term < tree.terms.features:
        return name
    return f"log(1 + {name} / {tree.terms.units[term - tree.terms.features]:g})"


def tree_to(tree: Tree) -> dict[str, Any]:
    """Return a tree as lists of numbers."""
    arrays = {name: getattr(tree, name).tolist() for name in (*_WHOLE, *_REAL)}
    return arrays | {"terms": asdict(tree.terms)}


def tree_from(document: Mapping[str, Any], features: int) -> Tree:
    """Return the tree whose numbers `tree_to` returned, for this number of features.

    Raises:
        WriteampError: a number is not finite, or the nodes are not a tree that `fit` can grow.
        KeyError, TypeError, ValueError: the document has another form.
    """
    terms = document["terms"]
    arrays: dict[str, Any] = {name: np.array(document[name], dtype=np.int64) for name in _WHOLE}
    arrays |= {name: np.array(document[name], dtype=np.float64) for name in _REAL}
    logs, units = tuple(map(int, terms["logs"])), tuple(map(float, terms["units"]))
    tree = Tree(**arrays, terms=Terms(features, logs, units))
    depths = depths_of(tree.feature == LEAF, tree.left, tree.right) if _is_sound(tree) else None
    if terms["features"] != features or depths is None:
        raise WriteampError("a saved tree is damaged: its nodes are not a valid tree")
    GROWTH["max_depth"].check("the depth of the saved tree", depths.max())
    return tree


def _is_sound(tree: Tree) -> bool:
    """Return whether the arrays of a tree are consistent, and its predictions finite."""
    size, width = len(tree.feature), tree.terms.features + len(tree.terms.logs)
    lines = [tree.threshold, tree.left, tree.right, tree.rows, tree.intercept, tree.low, tree.high]
    if size == 0 or any(line.shape != (size,) for line in [tree.feature, *lines]):
        return False
    return bool(
        tree.coefficients.shape == (size, width)
        and all(np.isfinite(line).all() for line in [*lines, tree.coefficients])
        and len(tree.terms.logs) == len(tree.terms.units)
        and all(0 <= feature < tree.terms.features for feature in tree.terms.logs)
        and all(0 < unit < np.inf for unit in tree.terms.units)
        and ((tree.feature >= LEAF) & (tree.feature < tree.terms.features)).all()
        and (tree.low <= tree.high).all()
        and (tree.rows >= 0).all()
    )
