"""Growth of a tree of linear models, before pruning."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from writeamp.learn.blackbox.models.splits import best_threshold, ranked
from writeamp.learn.blackbox.models.terms import Terms

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

# A column counts as collinear with the chosen columns, and cannot enter the model, if they leave
# less than this share of its variance unexplained.
_TOLERANCE = 1e-7
# Squared residuals below this share of the target's sum of squares are rounding errors.
_EXACT = 1e-20


@dataclass(frozen=True)
class LinearFit:
    """A linear model of some of the columns.

    Attributes:
        chosen: indices of the model's columns, in order of entry; shape (terms,).
        coefficients: coefficients of these columns; shape (terms,).
        intercept: constant of the model.
        explained: decrease of the sum of squared residuals by each column; shape (terms,).
        sse: the sum of squared residuals.
        sst: the target's sum of squares around its mean.
    """

    chosen: I64
    coefficients: F64
    intercept: float
    explained: F64
    sse: float
    sst: float


def forward(joined: F64, f_to_enter: float, most_terms: int) -> LinearFit:
    """Return the linear model that forward selection finds.

    At each step the column enters that lowers the sum of squares most, as long as its F statistic
    exceeds `f_to_enter`. The sweep operator (Goodnight 1979) adds a column in one pass over the
    matrix of sums of products.

    Args:
        joined: the columns that may enter, and last the target; shape (rows, columns + 1).
        f_to_enter: least F statistic of a column that enters.
        most_terms: most columns that enter.
    """
    rows, width = joined.shape[0], joined.shape[1] - 1
    mean = np.add.reduce(joined, axis=0) / rows
    centred = joined - mean
    products = centred.T @ centred
    begun = products.diagonal().copy()
    sst = float(products[width, width])
    is_out = begun[:width] > 0
    chosen: list[int] = []
    explained: list[float] = []
    for taken in range(min(most_terms, width, rows - 2)):
        pivots = products.diagonal()[:width]
        can_enter = is_out & (pivots > _TOLERANCE * begun[:width])
        gains = np.zeros(width)
        np.divide(products[:width, width] ** 2, pivots, out=gains, where=can_enter)
        best = int(np.argmax(gains))
        left = products[width, width] - gains[best]
        if gains[best] <= max(f_to_enter * left / (rows - taken - 2), _EXACT * sst):
            break
        chosen.append(best)
        explained.append(float(gains[best]))
        is_out[best] = False
        _sweep(products, best)
    coefficients = products[chosen, width]
    return LinearFit(
        np.array(chosen, dtype=np.int64),
        coefficients,
        float(mean[width] - mean[chosen] @ coefficients),
        np.array(explained),
        max(float(products[width, width]), 0.0),
        sst,
    )


def _sweep(products: F64, pivot: int) -> None:
    value = products[pivot, pivot]
    row = products[pivot] / value
    column = products[:, pivot].copy()
    products -= np.outer(column, row)
    products[pivot] = row
    products[:, pivot] = -column / value
    products[pivot, pivot] = 1 / value


# A node is not split further if its squared residuals are less than this share of the target's sum
# of squares in the whole tree.
_EXPLAINED = 1e-12


@dataclass(frozen=True)
class Growth:
    """Limits of a tree's growth.

    Attributes:
        fewest_rows: least number of rows in a leaf.
        most_depth: most splits above a leaf.
        most_terms: most terms of a leaf's model.
        f_to_enter: least F statistic with which a term enters a model.
        tried: number of variables whose thresholds are tried; the best threshold is the split.
    """

    fewest_rows: int
    most_depth: int
    most_terms: int
    f_to_enter: float
    tried: int


@dataclass
class TreeNode:
    """Node of a tree; a leaf if it has no split (`feature` below 0)."""

    rows: I64
    depth: int
    fit: LinearFit
    feature: int = -1
    threshold: float = 0.0
    left: int = -1
    right: int = -1


@dataclass(frozen=True)
class Data:
    """Training data in the form that the growth of trees needs.

    Attributes:
        features: unscaled features; shape (rows, features).
        joined: matrix of a column of ones, the terms with mean 0 and variance 1, and the target
            with mean 0; shape (rows, 1 + terms + 1).
        terms: definition of the terms.
        own: for each feature, the columns of its terms.
        squares: sum of squares of the target around its mean.
    """

    features: F64
    joined: F64
    terms: Terms
    own: list[list[int]] = field(init=False)
    squares: float = field(init=False)

    def __post_init__(self) -> None:
        """Compute the values that every node needs."""
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


def grow(data: Data, rows: I64, growth: Growth) -> list[TreeNode]:
    """Return the nodes of a tree on these rows: the root first, parents before children."""
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


def _node(data: Data, rows: I64, depth: int, growth: Growth) -> TreeNode:
    fit = forward(data.joined[rows, 1:], growth.f_to_enter, growth.most_terms)
    return TreeNode(rows, depth, fit)


def _split(data: Data, node: TreeNode, growth: Growth) -> tuple[int, float] | None:
    """Return the variable and the threshold of a split; None if the node must be a leaf."""
    too_few = len(node.rows) < 2 * growth.fewest_rows
    if too_few or node.depth >= growth.most_depth or node.fit.sse <= _EXPLAINED * data.squares:
        return None
    features, joined = data.features[node.rows], data.joined[node.rows]
    chosen = 1 + node.fit.chosen
    residuals = joined[:, -1] - node.fit.intercept - joined[:, chosen] @ node.fit.coefficients
    last = joined.shape[1] - 1
    splits: list[tuple[float, int, float]] = []
    for feature in ranked(features, residuals):
        used = np.array(sorted({0, *chosen.tolist(), *data.own[feature], last}))
        best = best_threshold(features[:, feature], joined, used, growth.fewest_rows)
        if best is not None:
            splits.append((best[1], feature, best[0]))
        if len(splits) == growth.tried:
            break
    if not splits:
        return None
    _, feature, threshold = min(splits)
    return feature, threshold
