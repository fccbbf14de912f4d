"""Choice of a node's split variable: GUIDE's tests of signs of residuals (Loh 2002).

If a linear model fits, the signs of its residuals do not depend on the position of a row in the
node. The node is split on the variable on which they depend most clearly. Every test of a variable
or a pair uses the same number of cells. So variables with many values are not preferred, unlike in
trees that try every split of every variable."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]


def ranked(variables: F64, residuals: F64) -> list[int]:
    """Return the variables that may be split on, the most promising first.

    If the test of a pair is the clearest of all, both of its variables come first.

    Args:
        variables: shape (rows, variables).
        residuals: of the node's linear model; shape (rows,).
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

    It measures how clearly the signs depend on the quartile of the variable.

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
        cells: rows in each cell along the first axis; empty cells are ignored.
        positives: number of them with a positive sign.
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


I64 = npt.NDArray[np.int64]

# Thresholds tried at once; if there are more, the search is refined around the best.
_MOST_THRESHOLDS = 32
# Keeps the factorization stable for collinear columns; negligible for columns of unit variance.
_RIDGE = 1e-9


def best_threshold(
    values: F64, joined: F64, used: I64, fewest_rows: int
) -> tuple[float, float] | None:
    """Return the best threshold on a variable, and the sum of squared residuals that it leaves.

    Sums of products of the rows between thresholds are accumulated from either end, so all models
    together cost one pass over the rows.
    Args:
        values: of the variable; shape (rows,).
        joined: a column of ones, regressors of about unit variance, and last the target, of mean 0;
            shape (rows, columns).
        used: columns of the models, including the first and the last.
        fewest_rows: least rows of either side.

    Returns:
        The threshold, up to which rows go left, and the sum; None if no threshold leaves enough
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
    """Return the squared residuals of the two models on either side of each cut."""
    products = np.empty((len(cuts) + 1, rows.shape[1], rows.shape[1]))
    for index, (begin, end) in enumerate(pairwise((0, *cuts, len(rows)))):
        between = rows[begin:end]
        products[index] = between.T @ between
    left = np.cumsum(products[:-1], axis=0)
    right = np.cumsum(products[:0:-1], axis=0)[::-1]
    residuals: F64 = _residual(np.concatenate([left, right])).reshape(2, -1).sum(axis=0)
    return residuals


def _residual(products: F64) -> F64:
    """Return the squared residuals of least squares for each matrix; shape (matrices,).

    They are the square of the last pivot of the Cholesky factor, as the target is the last column.
    """
    size = np.arange(products.shape[1])
    products[:, size, size] *= 1 + _RIDGE
    products[:, size, size] += _RIDGE * products[:, :1, 0]
    last_pivot: F64 = np.asarray(np.linalg.cholesky(products)[:, -1, -1], dtype=np.float64)
    return np.square(last_pivot)
