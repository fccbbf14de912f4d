"""Division of over-provisioned space by the engine's own code.

The block manager Wolf uses it too, so there is one implementation of each method.
"""

from __future__ import annotations

import numpy as np

from writeamp._engine import divide
from writeamp.allocation.groups import GroupTable
from writeamp.models._arguments import FloatArray


def divided(method: str, groups: GroupTable) -> FloatArray:
    """Return each group's share of the over-provisioned space, shape (..., n).

    Args:
        method: "size", "frequency", "closed-form" or "optimal". At the optimum the weighted WA,
            which is convex in the division, is least: with y = 1/δ, WA = y/(y−1) and
            OP/s = y·ln y/(y−1) − 1 (Dayan et al. 2015, eq. 3), Lagrange's condition is
            y − 1 − ln y = μ·p/s in each group, with one μ for all, at which the space is used up. A
            group that is never written gets none.
        groups: what the space is divided between.
    """
    shape = groups.sizes.shape
    shares = divide(
        method,
        sizes=_rows(groups.sizes.reshape(-1, shape[-1])),
        frequencies=_rows(groups.frequencies.reshape(-1, shape[-1])),
        op=_rows(groups.op.reshape(-1)),
    )
    return shares.reshape(shape)


def _rows(array: FloatArray) -> FloatArray:
    return np.ascontiguousarray(array, dtype=np.float64)
