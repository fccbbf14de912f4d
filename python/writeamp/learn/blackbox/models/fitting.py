"""Fitting of a `Tree` to training rows: scaling, growing, pruning, smoothing, quantiles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.linear_model import QuantileRegressor

from writeamp.learn.blackbox.models.growing import Data, Growth, TreeNode, grow
from writeamp.learn.blackbox.models.terms import terms_of
from writeamp.learn.blackbox.models.tree import LEAF, Tree

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]


def penalties_of_collapse(nodes: Sequence[TreeNode]) -> F64:
    """Return the least penalty per leaf at which pruning makes each node a leaf; shape (nodes,).

    The value of a leaf is 0. A node collapses to a leaf when its own cost plus one penalty is at
    most the costs plus penalties of the leaves below it, and never after its parent.
    """
    penalty = np.zeros(len(nodes))
    below: dict[int, _Below] = {}
    for place in range(len(nodes) - 1, -1, -1):
        node = nodes[place]
        if node.feature < 0:
            below[place] = _Below(node.fit.sse, 1, [])
        else:
            joined = below.pop(node.left).joined(below.pop(node.right))
            penalty[place], below[place] = joined.collapsed(node.fit.sse)
    return np.minimum(penalty, parent_penalties(nodes, penalty))


@dataclass(frozen=True)
class _Below:
    """Leaves below a node, and how they merge as the penalty rises.

    Attributes:
        cost: sum of squared residuals of the leaves, without a penalty.
        leaves: number of leaves.
        collapses: in order, each penalty at which leaves merge into one, by how much that raises
            the cost, and by how much it lowers the number of leaves.
    """

    cost: float
    leaves: int
    collapses: list[tuple[float, float, int]]

    def joined(self, other: _Below) -> _Below:
        """Return the state for the leaves below two sibling nodes together."""
        collapses = sorted(self.collapses + other.collapses)
        return _Below(self.cost + other.cost, self.leaves + other.leaves, collapses)

    def collapsed(self, own_cost: float) -> tuple[float, _Below]:
        """Return the penalty at which the node above becomes a leaf, and the state below it."""
        cost, leaves = self.cost, self.leaves
        for count, (reached, more, fewer) in enumerate(self.collapses):
            # If the leaves cost more than the node itself, the node collapses without a penalty.
            if reached > 0 and own_cost - cost <= reached * (leaves - 1):
                done = self.collapses[:count]
                break
            cost, leaves = cost + more, leaves - fewer
        else:
            done = self.collapses
        penalty = max((own_cost - cost) / (leaves - 1), done[-1][0] if done else 0.0)
        last = (penalty, own_cost - cost, leaves - 1)
        return penalty, _Below(self.cost, self.leaves, [*done, last])


def chosen_penalty(
    data: Data,
    growth: Growth,
    nodes: Sequence[TreeNode],
    folds: Sequence[I64],
    standard_errors: float,
) -> float:
    """Return the penalty per leaf with the best predictions in cross-validation.

    The result is the greatest penalty whose mean error exceeds the least one by at most
    `standard_errors`. Errors are absolute, because a few rows would dominate squared errors.

    Args:
        data: all training rows.
        growth: limits of the trees.
        nodes: the tree grown on all rows, which gives the candidate penalties.
        folds: the rows that are held out of each tree in turn.
        standard_errors: allowed excess of the mean error, in standard errors of the mean at the
            best penalty.
    """
    reached = np.unique(penalties_of_collapse(nodes))
    if len(reached) == 1:
        return float(reached[0])
    # All penalties between two collapses give the same tree; their geometric mean represents them
    # (Breiman et al. 1984, section 8.5).
    candidates = np.r_[np.sqrt(reached[:-1] * reached[1:]), reached[-1]]
    errors = np.empty((len(candidates), len(data.target)))
    for held_out in folds:
        training = np.setdiff1d(np.arange(len(data.target)), held_out)
        fold_nodes = grow(data, training, growth)
        # Costs are sums over rows, so penalties of a fold's tree are scaled to all rows.
        fold_penalties = penalties_of_collapse(fold_nodes) * len(data.target) / len(training)
        parents = parent_penalties(fold_nodes, fold_penalties)
        for place, rows in _rows_at(data, fold_nodes, held_out):
            is_leaf = (fold_penalties[place] <= candidates) & (candidates < parents[place])
            errors[np.ix_(is_leaf, rows)] = _errors(data, fold_nodes[place], rows)
    means = errors.mean(axis=1)
    best = int(np.argmin(means))
    slack = standard_errors * errors[best].std() / np.sqrt(len(data.target))
    return float(candidates[np.flatnonzero(means <= means[best] + slack)[-1]])


def parent_penalties(nodes: Sequence[TreeNode], penalties: F64) -> F64:
    """Return the least penalty at which a node's parent becomes a leaf; shape (nodes,)."""
    penalties_of_parents = np.full(len(nodes), np.inf)
    for place, node in enumerate(nodes):
        if node.feature >= 0:
            penalties_of_parents[[node.left, node.right]] = min(
                penalties[place], penalties_of_parents[place]
            )
    return penalties_of_parents


def _rows_at(data: Data, nodes: Sequence[TreeNode], rows: I64) -> Iterator[tuple[int, I64]]:
    """Yield each node of the tree, and which of the rows reach it."""
    waiting = [(0, rows)]
    while waiting:
        place, here = waiting.pop()
        yield place, here
        node = nodes[place]
        if node.feature >= 0:
            is_left = data.features[here, node.feature] <= node.threshold
            waiting += [(node.left, here[is_left]), (node.right, here[~is_left])]


def _errors(data: Data, node: TreeNode, rows: I64) -> F64:
    """Return the absolute errors of a node's predictions of some rows.

    The predictions are clipped to the target's range in the node's own rows.
    """
    own = data.target[node.rows]
    values = (
        node.fit.intercept + data.columns[np.ix_(rows, node.fit.chosen)] @ node.fit.coefficients
    )
    errors: F64 = np.abs(data.target[rows] - np.clip(values, own.min(), own.max()))
    return errors


@dataclass(frozen=True)
class TermScaling:
    """Mean and standard deviation of each term in the training rows, and the target's mean.

    Arrays have the shape (terms,).
    """

    mean: F64
    deviation: F64
    target_mean: float

    def raw(self, intercept: float, coefficients: F64) -> tuple[float, F64]:
        """Convert a linear model of scaled terms to one of unscaled terms and target."""
        slopes = coefficients / self.deviation
        return float(self.target_mean + intercept - slopes @ self.mean), slopes


@dataclass(frozen=True)
class Shape:
    """Parameters of pruning, smoothing and clipping of a grown tree.

    Attributes:
        penalty: pruning penalty per leaf.
        smoothing: weight of the parent's model in each node's model, as a number of rows.
        margin: how far predictions may exceed the range of a leaf's training targets, as a share of
            that range.
    """

    penalty: float
    smoothing: float
    margin: float


def growth_of(estimator: BaseEstimator) -> Growth:
    """Return the growth limits of an estimator's trees."""
    return Growth(
        fewest_rows=estimator.min_samples_leaf,
        most_depth=estimator.max_depth,
        most_terms=2**31 if estimator.max_terms is None else estimator.max_terms,
        f_to_enter=estimator.f_to_enter,
        tried=estimator.split_candidates,
    )


def prepared(features: F64, target: F64, *, with_logs: bool) -> tuple[Data, TermScaling]:
    """Return the training rows as trees need them, and the scaling of their terms."""
    terms = terms_of(features, with_logs=with_logs)
    raw = terms.of(features)
    deviation = raw.std(axis=0)
    deviation[deviation == 0] = 1.0
    scaling = TermScaling(raw.mean(axis=0), deviation, float(target.mean()))
    joined = np.empty((len(raw), 1 + raw.shape[1] + 1))
    joined[:, 0] = 1
    joined[:, 1:-1] = (raw - scaling.mean) / deviation
    joined[:, -1] = target - scaling.target_mean
    return Data(features, joined, terms), scaling


def pruned(
    data: Data, growth: Growth, folds: Sequence[I64] | None, standard_errors: float
) -> tuple[list[TreeNode], float]:
    """Grow a tree, and choose its pruning penalty by cross-validation; -1 without folds."""
    nodes = grow(data, np.arange(len(data.target)), growth)
    if folds is None:
        return nodes, -1.0
    return nodes, chosen_penalty(data, growth, nodes, folds, standard_errors)


def kept_nodes(nodes: Sequence[TreeNode], penalty: float) -> list[tuple[TreeNode, bool]]:
    """Return the nodes that remain after pruning with a penalty, and whether each is a leaf."""
    penalties = penalties_of_collapse(nodes)
    is_leaf_of: dict[int, bool] = {0: True}
    for place, node in enumerate(nodes):
        if place in is_leaf_of and node.feature >= 0 and penalties[place] > penalty:
            is_leaf_of |= {place: False, node.left: True, node.right: True}
    return [(nodes[place], is_leaf) for place, is_leaf in sorted(is_leaf_of.items())]


def assembled(data: Data, scaling: TermScaling, nodes: Sequence[TreeNode], shape: Shape) -> Tree:
    """Return the final tree for predictions.

    A node's model is smoothed toward its parent's, as in Quinlan's M5 (1992): a weighted mean, in
    which the parent's model counts as `smoothing` rows.
    """
    remaining = kept_nodes(nodes, shape.penalty)
    place_of = {id(node): place for place, (node, _) in enumerate(remaining)}
    size, width = len(remaining), data.columns.shape[1]
    feature, left, right = (np.full(size, LEAF) for _ in range(3))
    threshold, intercept, low, high = (np.zeros(size) for _ in range(4))
    coefficients = np.zeros((size, width))
    for place, (node, is_leaf) in enumerate(remaining):
        own = np.zeros(width)
        own[node.fit.chosen] = node.fit.coefficients
        share = 1.0 if place == 0 else len(node.rows) / (len(node.rows) + shape.smoothing)
        # At this point, the entries at `place` hold the parent's model.
        coefficients[place] = share * own + (1 - share) * coefficients[place]
        intercept[place] = share * node.fit.intercept + (1 - share) * intercept[place]
        target = data.target[node.rows] + scaling.target_mean
        beyond = shape.margin * (target.max() - target.min())
        low[place], high[place] = target.min() - beyond, target.max() + beyond
        if not is_leaf:
            sides = [place_of[id(nodes[below])] for below in (node.left, node.right)]
            feature[place], threshold[place] = node.feature, node.threshold
            left[place], right[place] = sides
            coefficients[sides], intercept[sides] = coefficients[place], intercept[place]
    for place in range(size):
        intercept[place], coefficients[place] = scaling.raw(intercept[place], coefficients[place])
    return Tree(
        feature=feature,
        threshold=threshold,
        left=left,
        right=right,
        rows=np.array([len(node.rows) for node, _ in remaining]),
        intercept=intercept,
        coefficients=coefficients,
        low=low,
        high=high,
        terms=data.terms,
    )


def importances(data: Data, nodes: Sequence[TreeNode], penalty: float) -> F64:
    """Return the sum of squares that each feature explains; shape (features,).

    A split explains the decrease of the sum of squares around the mean. A term of a leaf's model
    explains the decrease when it enters the model. These and the residuals sum to the total.
    """
    explained = np.zeros(data.features.shape[1])
    for node, is_leaf in kept_nodes(nodes, penalty):
        if is_leaf:
            for term, share in zip(node.fit.chosen, node.fit.explained, strict=True):
                explained[data.terms.origin(int(term))] += share
        else:
            below = nodes[node.left].fit.sst + nodes[node.right].fit.sst
            explained[node.feature] += node.fit.sst - below
    return explained


def with_quantile_leaves(tree: Tree, data: Data, scaling: TermScaling, quantile: float) -> Tree:
    """Return the tree with each leaf's model refitted to a quantile of the target.

    Splits, and the choice of terms in each leaf's model, stay as fitted by least squares.
    """
    intercept, coefficients = tree.intercept.copy(), tree.coefficients.copy()
    leaf_of = tree.apply(data.features)
    for leaf in np.flatnonzero(tree.feature == LEAF):
        rows = np.flatnonzero(leaf_of == leaf)
        used = np.flatnonzero(tree.coefficients[leaf])
        columns, target = data.columns[np.ix_(rows, used)], data.target[rows]
        varies = columns.std(axis=0) > 0
        slopes = np.zeros(data.columns.shape[1])
        constant = float(np.quantile(target, quantile))
        if varies.any():
            model = QuantileRegressor(quantile=quantile, alpha=0.0, solver="highs")
            model.fit(columns[:, varies], target)
            slopes[used[varies]], constant = model.coef_, float(model.intercept_)
        intercept[leaf], coefficients[leaf] = scaling.raw(constant, slopes)
    return replace(tree, intercept=intercept, coefficients=coefficients)
