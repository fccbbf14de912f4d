"""Fitting of a `Tree` to training rows: scaling, growing, pruning, smoothing, quantiles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.linear_model import QuantileRegressor

from writeamp.learn.blackbox.models.growing import Data, Growth, Node, grow
from writeamp.learn.blackbox.models.terms import terms_of
from writeamp.learn.blackbox.models.tree import LEAF, Tree

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]


def penalties_of_collapse(nodes: Sequence[Node]) -> F64:
    """Return for each node the penalty per leaf from which on it has none below; shape (nodes,).

    Those of leaves are 0. A node collapses where its own cost and one penalty are no more than the
    costs and the penalties of the leaves that are still below it, so never after the node above.
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
    """The leaves below a node, and what happens to them as the penalty rises.

    Attributes:
        cost: sum of squares of the leaves, as long as there is no penalty.
        leaves: how many they are.
        collapses: in order, each penalty at which some leaves become one, by how much that raises
            the cost, and how many leaves fewer there are then.
    """

    cost: float
    leaves: int
    collapses: list[tuple[float, float, int]]

    def joined(self, other: _Below) -> _Below:
        """Return both together."""
        collapses = sorted(self.collapses + other.collapses)
        return _Below(self.cost + other.cost, self.leaves + other.leaves, collapses)

    def collapsed(self, own_cost: float) -> tuple[float, _Below]:
        """Return the penalty at which a node of this cost takes their place, and this with it."""
        cost, leaves = self.cost, self.leaves
        for before, (reached, more, fewer) in enumerate(self.collapses):
            # What costs more with its leaves than without collapses before anything is compared.
            if reached > 0 and own_cost - cost <= reached * (leaves - 1):
                kept = self.collapses[:before]
                break
            cost, leaves = cost + more, leaves - fewer
        else:
            kept = self.collapses
        penalty = max((own_cost - cost) / (leaves - 1), kept[-1][0] if kept else 0.0)
        last = (penalty, own_cost - cost, leaves - 1)
        return penalty, _Below(self.cost, self.leaves, [*kept, last])


def chosen_penalty(
    data: Data, growth: Growth, nodes: Sequence[Node], folds: Sequence[I64], standard_errors: float
) -> float:
    """Return the penalty per leaf whose trees predict rows best that they were not grown on.

    Of the penalties that are as good within so many standard errors, the greatest is taken. Errors
    are absolute, because a few rows with great squares would decide for all the others.

    Args:
        data: all rows.
        growth: how trees are grown.
        nodes: the tree on all rows, whose penalties are candidates.
        folds: the rows that are held out of each tree in turn.
        standard_errors: of the rows' errors at the best penalty.
    """
    reached = np.unique(penalties_of_collapse(nodes))
    if len(reached) == 1:
        return float(reached[0])
    # Geometric means stand for what lies between two collapses (section 8.5).
    candidates = np.r_[np.sqrt(reached[:-1] * reached[1:]), reached[-1]]
    errors = np.empty((len(candidates), len(data.target)))
    for held_out in folds:
        kept = np.setdiff1d(np.arange(len(data.target)), held_out)
        fold_nodes = grow(data, kept, growth)
        # Costs are sums over rows, of which a fold has fewer.
        fold_penalties = penalties_of_collapse(fold_nodes) * len(data.target) / len(kept)
        parents = parent_penalties(fold_nodes, fold_penalties)
        for place, rows in _rows_at(data, fold_nodes, held_out):
            is_leaf = (fold_penalties[place] <= candidates) & (candidates < parents[place])
            errors[np.ix_(is_leaf, rows)] = _errors(data, fold_nodes[place], rows)
    means = errors.mean(axis=1)
    best = int(np.argmin(means))
    slack = standard_errors * errors[best].std() / np.sqrt(len(data.target))
    return float(candidates[np.flatnonzero(means <= means[best] + slack)[-1]])


def parent_penalties(nodes: Sequence[Node], penalties: F64) -> F64:
    """Return for each node the penalty from which on it is no node any more; shape (nodes,)."""
    found = np.full(len(nodes), np.inf)
    for place, node in enumerate(nodes):
        if node.feature >= 0:
            found[[node.left, node.right]] = min(penalties[place], found[place])
    return found


def _rows_at(data: Data, nodes: Sequence[Node], rows: I64) -> Iterator[tuple[int, I64]]:
    """Give every node with those of the rows that come to it."""
    waiting = [(0, rows)]
    while waiting:
        place, here = waiting.pop()
        yield place, here
        node = nodes[place]
        if node.feature >= 0:
            is_left = data.features[here, node.feature] <= node.threshold
            waiting += [(node.left, here[is_left]), (node.right, here[~is_left])]


def _errors(data: Data, node: Node, rows: I64) -> F64:
    """Return the absolute errors of the node's model, held to the range of its own rows."""
    own = data.target[node.rows]
    values = (
        node.fit.intercept + data.columns[np.ix_(rows, node.fit.chosen)] @ node.fit.coefficients
    )
    errors: F64 = np.abs(data.target[rows] - np.clip(values, own.min(), own.max()))
    return errors


@dataclass(frozen=True)
class TermScaling:
    """Mean and standard deviation of each term in the training rows, and the target's mean.

    Those of the terms have the shape (terms,).
    """

    mean: F64
    deviation: F64
    target_mean: float

    def raw(self, intercept: float, coefficients: F64) -> tuple[float, F64]:
        """Return a linear model of scaled terms as one of the terms and the target themselves."""
        slopes = coefficients / self.deviation
        return float(self.target_mean + intercept - slopes @ self.mean), slopes


@dataclass(frozen=True)
class Shape:
    """Parameters of a grown tree's pruning, smoothing and limits of prediction.

    Attributes:
        penalty: per leaf, by which it is pruned.
        smoothing: rows that the model of the node above counts for in each node's own.
        margin: share of the range of a leaf's training targets that predictions may lie beyond it.
    """

    penalty: float
    smoothing: float
    margin: float


def growth_of(estimator: BaseEstimator) -> Growth:
    """Return the limits to the growth of an estimator's trees."""
    return Growth(
        fewest_rows=estimator.min_samples_leaf,
        most_depth=estimator.max_depth,
        most_terms=2**31 if estimator.max_terms is None else estimator.max_terms,
        f_to_enter=estimator.f_to_enter,
        tried=estimator.split_candidates,
    )


def prepared(features: F64, target: F64, *, with_logs: bool) -> tuple[Data, TermScaling]:
    """Return the training rows as trees grow on them, and how their terms were scaled."""
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
) -> tuple[list[Node], float]:
    """Return a grown tree, and the penalty by which cross-validation over the folds prunes it."""
    nodes = grow(data, np.arange(len(data.target)), growth)
    if folds is None:
        return nodes, -1.0
    return nodes, chosen_penalty(data, growth, nodes, folds, standard_errors)


def kept_nodes(nodes: Sequence[Node], penalty: float) -> list[tuple[Node, bool]]:
    """Return the nodes that a penalty leaves, in their order, and whether each is a leaf now."""
    penalties = penalties_of_collapse(nodes)
    kept: dict[int, bool] = {0: True}
    for place, node in enumerate(nodes):
        if place in kept and node.feature >= 0 and penalties[place] > penalty:
            kept |= {place: False, node.left: True, node.right: True}
    return [(nodes[place], is_leaf) for place, is_leaf in sorted(kept.items())]


def assembled(data: Data, scaling: TermScaling, nodes: Sequence[Node], shape: Shape) -> Tree:
    """Return the tree that predicts.

    A node's model is smoothed toward the one above it, as in Quinlan's M5 (1992): a mean of both,
    in which the one above counts for so many rows.
    """
    kept = kept_nodes(nodes, shape.penalty)
    place_of = {id(node): place for place, (node, _) in enumerate(kept)}
    size, width = len(kept), data.columns.shape[1]
    feature, left, right = (np.full(size, LEAF) for _ in range(3))
    threshold, intercept, low, high = (np.zeros(size) for _ in range(4))
    coefficients = np.zeros((size, width))
    for place, (node, is_leaf) in enumerate(kept):
        own = np.zeros(width)
        own[node.fit.chosen] = node.fit.coefficients
        share = 1.0 if place == 0 else len(node.rows) / (len(node.rows) + shape.smoothing)
        # Until here its own place holds the model of the node above.
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
        rows=np.array([len(node.rows) for node, _ in kept]),
        intercept=intercept,
        coefficients=coefficients,
        low=low,
        high=high,
        terms=data.terms,
    )


def importances(data: Data, nodes: Sequence[Node], penalty: float) -> F64:
    """Return the sum of squares that each feature explains; shape (features,).

    A split explains by how much it lowers the squares around the mean, a leaf's term by how much it
    lowered them further as it entered. With the leaves' residuals they add up to all there is.
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
    """Return the tree with the models of its leaves fitted to a quantile of their rows.

    The splits, and the terms that a leaf's model has, stay those of least squares.
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
