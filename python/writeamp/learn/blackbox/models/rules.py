"""The rules of a tree as text, each with the equation of its leaf."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from writeamp.learn.blackbox.models.tree import LEAF, Tree

_INDENT = "|   "


def text_of(tree: Tree, names: Sequence[str], *, is_log: bool) -> str:
    """Return a line for each node, below what leads to it.

    Args:
        tree: a tree.
        names: of the features.
        is_log: whether it predicts the logarithm of the target.
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
