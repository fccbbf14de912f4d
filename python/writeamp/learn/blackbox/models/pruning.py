"""Cost-complexity pruning by cross-validation.

The method is that of Breiman et al. 1984, chapter 3 and section 8.5.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from writeamp.learn.blackbox.models.growing import Data, Growth, Node, grow

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
