"""Figure 8: a small tree for bandwidth, with leaves that predict invalid values.

The tree predicts bandwidth instead of its logarithm; otherwise no prediction could be negative. It
is small, and its leaves have few terms. Our trees limit predictions to the range of a leaf's rows,
so here the equations of the leaves are evaluated without this limit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from writeamp.learn.blackbox.features.feature_sets import find_feature_set
from writeamp.learn.blackbox.models.linear_tree import LinearTreeRegressor
from writeamp.learn.blackbox.models.tree import LEAF, Tree
from writeamp.plots.spec import TreeChart, TreeNode
from writeamp.plots.style import FAINT, SERIES_COLORS
from writeamp_papers.huang2011.runs import UNITS

F64 = npt.NDArray[np.float64]

_KIB = 1024
_METRIC = "bandwidth"
_INVALID = SERIES_COLORS[1]


@dataclass(frozen=True)
class Leaf:
    """Leaf of a tree, with the range of the values of its equation.

    Attributes:
        rows: number of its training rows.
        least, most: range of the equation's values, if each characteristic is anywhere between its
            smallest and largest value in these rows.
    """

    rows: int
    least: float
    most: float

    @property
    def is_invalid(self) -> bool:
        """True if the equation predicts a bandwidth below 0 somewhere in the range of its rows."""
        return self.least < 0


def example_tree(rows: pl.DataFrame, device: str) -> TreeChart:
    """Describe a tree of a device's bandwidth.

    Args:
        rows: measurements of the device.
        device: name of the device.
    """
    extended = find_feature_set("extended")
    # Sizes and strides in KiB.
    units = np.array([_KIB if name.endswith("_bytes") else 1 for name in extended.names])
    vectors = extended.of(rows).to_numpy() / units
    model = LinearTreeRegressor(
        max_depth=3, max_terms=2, split_candidates=1, log_terms=False, smoothing=0.0
    )
    model.fit(vectors, rows[_METRIC].to_numpy())
    leaves = leaves_of(model.tree_, vectors)
    symbols = [feature.symbol for feature in extended.features]
    return TreeChart(
        title=f"A regression tree for {_METRIC}",
        subtitle=f"paper 2, Fig. 8 · {device}, {rows.height} cells; {UNITS[_METRIC]}, sizes and "
        "strides in KiB · left branch if a condition holds\n"
        "orange: below 0 somewhere in the range of the leaf's rows, and so invalid",
        nodes=tuple(_node(model.tree_, number, leaves, symbols) for number in range(len(leaves))),
    )


def leaves_of(tree: Tree, vectors: F64) -> list[Leaf | None]:
    """Return the range of the values of each leaf's equation; None for other nodes.

    Args:
        tree: a tree whose terms are the features themselves.
        vectors: its training rows.
    """
    leaves: list[Leaf | None] = [None] * len(tree.feature)
    places = tree.apply(vectors)
    for leaf in np.flatnonzero(tree.feature == LEAF):
        mine = vectors[places == leaf]
        ends = tree.coefficients[leaf] * np.array([mine.min(axis=0), mine.max(axis=0)])
        least, most = (
            float(tree.intercept[leaf] + by_feature.sum())
            for by_feature in (ends.min(axis=0), ends.max(axis=0))
        )
        leaves[leaf] = Leaf(len(mine), least, most)
    return leaves


def _node(tree: Tree, number: int, leaves: list[Leaf | None], symbols: list[str]) -> TreeNode:
    leaf = leaves[number]
    if leaf is None:
        condition = f"{symbols[tree.feature[number]]} ≤ {tree.threshold[number]:.4g}"
        return TreeNode(condition, FAINT, (int(tree.left[number]), int(tree.right[number])))
    lines = [_signed(tree.intercept[number])]
    for term in np.flatnonzero(tree.coefficients[number]):
        slope = tree.coefficients[number, term]
        lines.append(f"{'+' if slope > 0 else '−'} {abs(slope):.3g} {symbols[term]}")
    lines += [f"{leaf.rows} rows", f"{_signed(leaf.least)} to {_signed(leaf.most)}"]
    return TreeNode("\n".join(lines), _INVALID if leaf.is_invalid else FAINT)


def _signed(value: float) -> str:
    return f"{value:.3g}".replace("-", "−")
