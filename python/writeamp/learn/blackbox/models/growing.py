"""Growing of a tree of linear models, before any of it is pruned."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from writeamp.learn.blackbox.models.least_squares import Fit, forward
from writeamp.learn.blackbox.models.split_points import best_threshold
from writeamp.learn.blackbox.models.split_tests import ranked
from writeamp.learn.blackbox.models.terms import Terms

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

# A node whose model leaves this share of the whole tree's squares has nothing left to explain.
_EXPLAINED = 1e-12


@dataclass(frozen=True)
class Growth:
    """Limits of a tree's growth.

    Attributes:
        fewest_rows: rows that a leaf must have.
        most_depth: splits above a leaf at most.
        most_terms: terms of a leaf's model at most.
        f_to_enter: least F statistic with which a term enters it.
        tried: variables for which thresholds are tried; the best of them splits.
    """

    fewest_rows: int
    most_depth: int
    most_terms: int
    f_to_enter: float
    tried: int


@dataclass
class Node:
    """A node, which is a leaf if it has no split."""

    rows: I64
    depth: int
    fit: Fit
    feature: int = -1
    threshold: float = 0.0
    left: int = -1
    right: int = -1


@dataclass(frozen=True)
class Data:
    """Training data in the form in which a tree grows on them.

    Attributes:
        features: shape (rows, features).
        joined: a column of ones, the terms with mean 0 and variance 1, and last the target with
            mean 0; shape (rows, 1 + terms + 1).
        terms: what the terms are.
        own: for each feature the columns of its terms.
        squares: the sum of squares that there is to explain.
    """

    features: F64
    joined: F64
    terms: Terms
    own: list[list[int]] = field(init=False)
    squares: float = field(init=False)

    def __post_init__(self) -> None:
        """Note what every node asks for."""
        count = self.joined.shape[1] - 2
        own: list[list[int]] = [[] for _ in range(self.features.shape[1])]
        for term in range(count):
            own[self.terms.origin(term)].append(1 + term)
        object.__setattr__(self, "own", own)
        object.__setattr__(self, "squares", float(self.target @ self.target))

    @property
    def columns(self) -> F64:
        """The terms; shape (rows, terms)."""
        return self.joined[:, 1:-1]

    @property
    def target(self) -> F64:
        """The target; shape (rows,)."""
        return self.joined[:, -1]


def grow(data: Data, rows: I64, growth: Growth) -> list[Node]:
    """Return the nodes of a tree on these rows, the root first, each before what is below it."""
    nodes = [_node(data, rows, 0, growth)]
    open_nodes = [0]
    while open_nodes:
        place = open_nodes.pop()
        node = nodes[place]
        split = _split(data, node, growth)
        if split is None:
            continue
        node.feature, node.threshold = split
        is_left = data.features[node.rows, node.feature] <= node.threshold
        node.left, node.right = len(nodes), len(nodes) + 1
        for side in (node.rows[is_left], node.rows[~is_left]):
            nodes.append(_node(data, side, node.depth + 1, growth))
        open_nodes += [node.right, node.left]
    return nodes


def _node(data: Data, rows: I64, depth: int, growth: Growth) -> Node:
    fit = forward(data.joined[rows, 1:], growth.f_to_enter, growth.most_terms)
    return Node(rows, depth, fit)


def _split(data: Data, node: Node, growth: Growth) -> tuple[int, float] | None:
    """Return the variable and the threshold of a split; None if the node is to be a leaf."""
    too_few = len(node.rows) < 2 * growth.fewest_rows
    if too_few or node.depth >= growth.most_depth or node.fit.sse <= _EXPLAINED * data.squares:
        return None
    features, joined = data.features[node.rows], data.joined[node.rows]
    chosen = 1 + node.fit.chosen
    residuals = joined[:, -1] - node.fit.intercept - joined[:, chosen] @ node.fit.coefficients
    last = joined.shape[1] - 1
    found: list[tuple[float, int, float]] = []
    for feature in ranked(features, residuals):
        used = np.array(sorted({0, *chosen.tolist(), *data.own[feature], last}))
        best = best_threshold(features[:, feature], joined, used, growth.fewest_rows)
        if best is not None:
            found.append((best[1], feature, best[0]))
        if len(found) == growth.tried:
            break
    if not found:
        return None
    _, feature, threshold = min(found)
    return feature, threshold
