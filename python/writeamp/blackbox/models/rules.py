"""The rules of a tree as text, each with the equation of its leaf."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from writeamp.blackbox.models.tree import LEAF, Tree

_INDENT = "|   "


def text_of(tree: Tree, names: Sequence[str], *, is_log: bool) -> str:
    """Return a line for each node, below what leads to it.

    Args:
        tree: a tree.
        names: of the features.
        is_log: whether it predicts the logarithm of the target.
    """
    target = "log(y)" if is_log else "y"
    return "\n".join(_lines(tree, 0, "", names, target)) + "\n"


def _lines(tree: Tree, node: int, indent: str, names: Sequence[str], target: str) -> Iterator[str]:
    if tree.feature[node] == LEAF:
        yield f"{indent}{target} = {_equation(tree, node, names)}  ({tree.rows[node]} rows)"
        return
    name, threshold = names[tree.feature[node]], f"{tree.threshold[node]:.6g}"
    for sign, below in (("<=", tree.left[node]), (">", tree.right[node])):
        yield f"{indent}{name} {sign} {threshold}"
        yield from _lines(tree, int(below), indent + _INDENT, names, target)


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
