"""Choice of a node's split variable: GUIDE's tests of signs of residuals (Loh 2002).

If a node's linear model fits, the signs of its residuals do not depend on the values of any
variable. The node is split on the variable on which the signs depend most clearly. Every test of a
variable or a pair divides the rows into four cells. So variables with many values are not
preferred, unlike in trees that try every split of every variable."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]


def ranked(variables: F64, residuals: F64) -> list[int]:
    """Return the variables on which the node may be split, the most promising first.

    If the test of a pair of variables is the clearest of all, both of them come first.

    Args:
        variables: values of the variables; shape (rows, variables).
        residuals: residuals of the node's linear model; shape (rows,).
    """
    rows = len(residuals)
    ordered = np.sort(variables, axis=0)
    varies = ordered[0] < ordered[-1]
    # A cut at the greatest value would leave no row above it.
    below_greatest = np.nextafter(ordered[-1], -np.inf)
    above = [
        variables > np.minimum(ordered[place], below_greatest)
        for place in (rows // 4, (rows - 1) // 2, 3 * rows // 4)
    ]
    is_positive = (residuals > 0).astype(float)
    curvature = np.where(varies, _curvature(np.array(above, dtype=float), is_positive), -np.inf)
    order = [
        int(variable) for variable in np.argsort(-curvature, kind="stable") if varies[variable]
    ]
    pairs = _interactions(above[1].astype(float), is_positive)
    pairs[~(varies & varies[:, None])] = -np.inf
    np.fill_diagonal(pairs, -np.inf)
    clearest = int(np.argmax(pairs))
    if order and pairs.flat[clearest] > curvature[order[0]]:
        pair = divmod(clearest, len(pairs))
        order.sort(key=lambda variable: variable not in pair)
    return order


def _curvature(above: F64, is_positive: F64) -> F64:
    """Return the curvature test of each variable as a normal deviate.

    The test measures how clearly the signs depend on the quartile of the variable.

    Args:
        above: whether a row lies above each quartile's upper end; shape (cuts, rows, variables).
        is_positive: whether the residual of each row is positive; shape (rows,).
    """
    cells = np.empty((len(above) + 1, above.shape[2]))
    positives = np.empty_like(cells)
    cells[0], positives[0] = len(is_positive), is_positive.sum()
    cells[1:], positives[1:] = above.sum(axis=1), is_positive @ above
    cells[:-1] -= cells[1:].copy()
    positives[:-1] -= positives[1:].copy()
    return _deviate(cells, positives, float(is_positive.mean()))


def _interactions(high: F64, is_positive: F64) -> F64:
    """Return the interaction test of each pair of variables as a normal deviate.

    The two medians of a pair divide the rows into four quadrants. The test measures how clearly the
    signs depend on the quadrant.

    Args:
        high: whether a row lies above the median of each variable; shape (rows, variables).
        is_positive: whether the residual of each row is positive; shape (rows,).
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
    """Return the χ² of signs by cells as a standard normal deviate (Wilson and Hilferty 1931).

    Args:
        cells: number of rows in each cell, along the first axis; empty cells are ignored.
        positives: number of these rows with a positive sign.
        share: share of positive signs in all rows.
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


I64 = npt.NDArray[np.int64]

# Thresholds tried at once; if there are more, the search is refined around the best.
_MOST_THRESHOLDS = 32
# Ridge that keeps the factorization stable for collinear columns. Its effect on the residuals is
# negligible, as columns have unit variance.
_RIDGE = 1e-9


def best_threshold(
    values: F64, joined: F64, used: I64, fewest_rows: int
) -> tuple[float, float] | None:
    """Return the best threshold on a variable, and the sum of squared residuals that it leaves.

    A threshold gives one linear model on each side. Sums of products of the rows between thresholds
    are accumulated from either end, so all these models together cost one pass over the rows.

    Args:
        values: values of the variable; shape (rows,).
        joined: matrix of a column of ones, regressors of about unit variance, and the target of
            mean 0; shape (rows, columns).
        used: columns of `joined` for the models, including the first and the last.
        fewest_rows: least number of rows on either side.

    Returns:
        The threshold, where rows up to it go left, and the sum. None if no threshold leaves enough
        rows on both sides.
    """
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    cuts = np.flatnonzero(ordered[1:] > ordered[:-1]) + 1
    cuts = cuts[(cuts >= fewest_rows) & (cuts <= len(ordered) - fewest_rows)]
    if len(cuts) == 0:
        return None
    rows = joined[np.ix_(order, used)]
    while len(cuts) > _MOST_THRESHOLDS:
        coarse = cuts[np.linspace(0, len(cuts) - 1, _MOST_THRESHOLDS).round().astype(np.int64)]
        best = int(np.argmin(_residuals_at(rows, coarse)))
        near = coarse[[max(best - 1, 0), min(best + 1, len(coarse) - 1)]]
        cuts = cuts[(cuts >= near[0]) & (cuts <= near[1])]
    sse = _residuals_at(rows, cuts)
    best = int(np.argmin(sse))
    below, above = ordered[cuts[best] - 1], ordered[cuts[best]]
    middle = below + (above - below) / 2
    return float(middle if middle < above else below), float(sse[best])


def _residuals_at(rows: F64, cuts: I64) -> F64:
    """Return each cut's sum of squared residuals of the models on both sides; shape (cuts,)."""
    products = np.empty((len(cuts) + 1, rows.shape[1], rows.shape[1]))
    for index, (begin, end) in enumerate(pairwise((0, *cuts, len(rows)))):
        between = rows[begin:end]
        products[index] = between.T @ between
    left = np.cumsum(products[:-1], axis=0)
    right = np.cumsum(products[:0:-1], axis=0)[::-1]
    residuals: F64 = _residual(np.concatenate([left, right])).reshape(2, -1).sum(axis=0)
    return residuals


def _residual(products: F64) -> F64:
    """Return the least sum of squared residuals for each matrix of products; shape (matrices,).

    It is the square of the last pivot of the Cholesky factor, as the target is the last column.
    """
    size = np.arange(products.shape[1])
    products[:, size, size] *= 1 + _RIDGE
    products[:, size, size] += _RIDGE * products[:, :1, 0]
    last_pivot: F64 = np.asarray(np.linalg.cholesky(products)[:, -1, -1], dtype=np.float64)
    return np.square(last_pivot)
