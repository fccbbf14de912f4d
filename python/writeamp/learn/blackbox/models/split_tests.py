"""Choice of a node's split variable: GUIDE's tests of signs of residuals (Loh 2002).

If a linear model fits, the signs of its residuals do not depend on where in the node a row lies.
The variable on which they depend most clearly is split on. Each test looks at one variable, or one
pair, by as many cells as any other, so that variables with many values are not preferred, as they
are where every split of every variable is tried.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]


def ranked(variables: F64, residuals: F64) -> list[int]:
    """Return the variables that may be split on, the most promising first.

    A pair whose test is the clearest of all puts both of its variables before the others.

    Args:
        variables: shape (rows, variables).
        residuals: of the node's linear model; shape (rows,).
    """
    rows = len(residuals)
    ordered = np.sort(variables, axis=0)
    varies = ordered[0] < ordered[-1]
    # A cut at the greatest value would leave nothing above it.
    below_greatest = np.nextafter(ordered[-1], -np.inf)
    above = [
        variables > np.minimum(ordered[place], below_greatest)
        for place in (rows // 4, (rows - 1) // 2, 3 * rows // 4)
    ]
    is_positive = (residuals > 0).astype(float)
    curvature = np.where(varies, _curvature(np.array(above, dtype=float), is_positive), -np.inf)
    order = [int(one) for one in np.argsort(-curvature, kind="stable") if varies[one]]
    pairs = _interactions(above[1].astype(float), is_positive)
    pairs[~(varies & varies[:, None])] = -np.inf
    np.fill_diagonal(pairs, -np.inf)
    clearest = int(np.argmax(pairs))
    if order and pairs.flat[clearest] > curvature[order[0]]:
        pair = divmod(clearest, len(pairs))
        order.sort(key=lambda one: one not in pair)
    return order


def _curvature(above: F64, is_positive: F64) -> F64:
    """Return the curvature test of each variable as a normal deviate.

    It says how clearly the signs depend on the quartile of the variable.

    Args:
        above: whether a row lies above each cut; shape (cuts, rows, variables).
        is_positive: the signs; shape (rows,).
    """
    cells = np.empty((len(above) + 1, above.shape[2]))
    positives = np.empty_like(cells)
    cells[0], positives[0] = len(is_positive), is_positive.sum()
    cells[1:], positives[1:] = above.sum(axis=1), is_positive @ above
    cells[:-1] -= cells[1:].copy()
    positives[:-1] -= positives[1:].copy()
    return _deviate(cells, positives, float(is_positive.mean()))


def _interactions(high: F64, is_positive: F64) -> F64:
    """Return the interaction test of each pair of variables, by quadrants of their medians.

    Args:
        high: whether a row lies above each median; shape (rows, variables).
        is_positive: the signs; shape (rows,).
    """
    cells = _quadrants(high, np.ones(len(high)))
    return _deviate(cells, _quadrants(high, is_positive), float(is_positive.mean()))


def _quadrants(high: F64, weight: F64) -> F64:
    """Return the sums of weights in each pair's quadrants; shape (4, variables, variables)."""
    weighted = high * weight[:, None]
    both = high.T @ weighted
    alone = weighted.sum(axis=0)
    first, second = alone[:, None] - both, alone[None, :] - both
    return np.stack([both, first, second, weight.sum() - both - first - second])


def _deviate(cells: F64, positives: F64, share: float) -> F64:
    """Return χ² of signs over cells as a standard normal deviate (Wilson and Hilferty 1931).

    Args:
        cells: rows in each cell along the first axis; those of empty cells count for nothing.
        positives: how many of them have a positive sign.
        share: of positive signs in all rows.
    """
    spread = share * (1 - share)
    if spread == 0:
        return np.zeros(cells.shape[1:])
    filled = cells > 0.5
    excess = np.zeros_like(cells)
    np.divide((positives - share * cells) ** 2, cells * spread, out=excess, where=filled)
    freedom = np.maximum(filled.sum(axis=0) - 1, 1)
    root = np.cbrt(excess.sum(axis=0) / freedom)
    slack = 2 / (9 * freedom)
    deviate: F64 = (root - 1 + slack) / np.sqrt(slack)
    return deviate
