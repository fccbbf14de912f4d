"""Split points: the threshold that leaves the least squares to two linear models."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

# Thresholds tried at once; of more, those next to the best are tried again, ever closer.
_MOST_THRESHOLDS = 32
# Keeps collinear columns apart, far below what a column of unit variance explains.
_RIDGE = 1e-9


def best_threshold(
    values: F64, joined: F64, used: I64, fewest_rows: int
) -> tuple[float, float] | None:
    """Return the best threshold on a variable, and the sum of squared residuals that it leaves.

    Sums of products over the rows between thresholds are added up from either end, so that all
    models together cost one pass over the rows.

    Args:
        values: of the variable; shape (rows,).
        joined: a column of ones, regressors of about unit variance, and last the target, of mean 0;
            shape (rows, columns).
        used: which of these columns the models have, the first and the last among them.
        fewest_rows: rows that either side must have.

    Returns:
        None if no threshold leaves so many rows on both sides. Rows up to the threshold are left.
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
    """Return the squared residuals that two models leave if the rows are cut there."""
    parts = np.empty((len(cuts) + 1, rows.shape[1], rows.shape[1]))
    for part, (begin, end) in enumerate(pairwise((0, *cuts, len(rows)))):
        between = rows[begin:end]
        parts[part] = between.T @ between
    left = np.cumsum(parts[:-1], axis=0)
    right = np.cumsum(parts[:0:-1], axis=0)[::-1]
    found: F64 = _residual(np.concatenate([left, right])).reshape(2, -1).sum(axis=0)
    return found


def _residual(products: F64) -> F64:
    """Return the squared residuals of least squares for each matrix; shape (matrices,).

    They are the square of the last pivot of Cholesky's factor, if the target is the last column.
    """
    size = np.arange(products.shape[1])
    products[:, size, size] *= 1 + _RIDGE
    products[:, size, size] += _RIDGE * products[:, :1, 0]
    last_pivot: F64 = np.asarray(np.linalg.cholesky(products)[:, -1, -1], dtype=np.float64)
    return np.square(last_pivot)
