"""Least squares from sums of products, with few regressors chosen one after another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

# A regressor that the chosen ones explain but for this share is collinear with them.
_TOLERANCE = 1e-7
# Below this share of the sum of squares the residuals are rounding errors.
_EXACT = 1e-20


@dataclass(frozen=True)
class Fit:
    """A linear model of some of the columns.

    Attributes:
        chosen: the columns, in order of entry; shape (terms,).
        coefficients: theirs; shape (terms,).
        intercept: its constant.
        explained: by how much each column lowered the sum of squared residuals; shape (terms,).
        sse: the sum of squared residuals.
        sst: that around the mean.
    """

    chosen: I64
    coefficients: F64
    intercept: float
    explained: F64
    sse: float
    sst: float


def forward(joined: F64, f_to_enter: float, most_terms: int) -> Fit:
    """Return the linear model that forward selection finds.

    The column that lowers the sum of squares most enters, as long as its F statistic exceeds
    `f_to_enter`. The sweep operator (Goodnight 1979) takes a column in by one pass over the matrix
    of sums of products.

    Args:
        joined: the columns that may enter, and last the target; shape (rows, columns + 1).
        f_to_enter: least F statistic of a column that enters.
        most_terms: most columns that do.
    """
    rows, width = joined.shape[0], joined.shape[1] - 1
    mean = np.add.reduce(joined, axis=0) / rows
    centred = joined - mean
    products = centred.T @ centred
    begun = products.diagonal().copy()
    sst = float(products[width, width])
    is_out = begun[:width] > 0
    chosen: list[int] = []
    explained: list[float] = []
    for taken in range(min(most_terms, width, rows - 2)):
        pivots = products.diagonal()[:width]
        can_enter = is_out & (pivots > _TOLERANCE * begun[:width])
        gains = np.zeros(width)
        np.divide(products[:width, width] ** 2, pivots, out=gains, where=can_enter)
        best = int(np.argmax(gains))
        left = products[width, width] - gains[best]
        if gains[best] <= max(f_to_enter * left / (rows - taken - 2), _EXACT * sst):
            break
        chosen.append(best)
        explained.append(float(gains[best]))
        is_out[best] = False
        _sweep(products, best)
    coefficients = products[chosen, width]
    return Fit(
        np.array(chosen, dtype=np.int64),
        coefficients,
        float(mean[width] - mean[chosen] @ coefficients),
        np.array(explained),
        max(float(products[width, width]), 0.0),
        sst,
    )


def _sweep(products: F64, pivot: int) -> None:
    value = products[pivot, pivot]
    row = products[pivot] / value
    column = products[:, pivot].copy()
    products -= np.outer(column, row)
    products[pivot] = row
    products[:, pivot] = -column / value
    products[pivot, pivot] = 1 / value
