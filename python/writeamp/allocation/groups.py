"""Groups of pages with similar update frequency, which share over-provisioned space."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from writeamp._engine import divide
from writeamp.errors import WriteampError
from writeamp.models._arguments import (
    FloatArray,
    positive,
    raise_first,
    require_broadcast,
    share,
    share_or_zero,
)

# Allowed difference of a sum of shares from 1, because decimal shares are rounded.
SUM_TOLERANCE = 1e-9

# Bounds of op. Below the least op, WA is in the billions. Above the largest, it is 1 in double
# precision.
_LEAST_OP, _MOST_OP = 1e-9, 100.0


@dataclass(frozen=True)
class GroupTable:
    """Checked groups of pages, with arrays broadcast to a common shape.

    `sizes` (shape (..., n), above 0) are each group's share of the logical pages, s_x/LBA in paper
    3. `frequencies` (shape (..., n), from 0) are each group's share of the host's writes, p_x. Both
    sum to 1 over the last axis. `op` (shape (...)) is the drive's over-provisioning (T−U)/U, or
    OP/LBA.
    """

    sizes: FloatArray
    frequencies: FloatArray
    op: FloatArray

    @property
    def hit_rates(self) -> FloatArray:
        """Hit rates: writes per page relative to the mean of the drive, p_x/s_x, shape (..., n)."""
        return self.frequencies / self.sizes

    def op_of_group(self, op_shares: FloatArray) -> FloatArray:
        """Return each group's own over-provisioning OP_x/s_x, from its share of the space."""
        return op_shares * self.op[..., np.newaxis] / self.sizes

    def without(self, left_out: npt.NDArray[np.intp], op: FloatArray) -> GroupTable:
        """Return the groups except one, as groups of a drive without that one.

        Args:
            left_out: index of the group to leave out, shape (...).
            op: over-provisioning of the remaining groups, shape (...).
        """
        is_other = np.arange(self.sizes.shape[-1]) != left_out[..., np.newaxis]
        shape = (*self.sizes.shape[:-1], -1)
        sizes, frequencies = (
            self.sizes[is_other].reshape(shape),
            self.frequencies[is_other].reshape(shape),
        )
        return GroupTable(
            sizes / sizes.sum(-1, keepdims=True),
            frequencies / frequencies.sum(-1, keepdims=True),
            op,
        )


def checked_groups(
    sizes: npt.ArrayLike, frequencies: npt.ArrayLike, op: npt.ArrayLike
) -> GroupTable:
    """Return checked groups, broadcast to a common shape.

    Args:
        sizes: share of the logical pages in each group, shape (..., n), above 0.
        frequencies: share of the host's writes to each group, shape (..., n), from 0.
        op: over-provisioning (T−U)/U of the drive, shape (...), from 1e-9 to 100.

    Raises:
        WriteampError: a value is outside its domain, shares do not sum to 1, or the shapes do
            not fit together.
    """
    size_array, frequency_array = share("sizes", sizes), share_or_zero("frequencies", frequencies)
    ratio = positive("op", op)
    valid = f"from {_LEAST_OP:g} to {_MOST_OP:g}"
    raise_first("op", ratio, (ratio < _LEAST_OP) | (ratio > _MOST_OP), valid)
    for name, array in (("sizes", size_array), ("frequencies", frequency_array)):
        if array.ndim == 0 or array.shape[-1] == 0:
            raise WriteampError(f"{name} must hold one share for each group")
    if size_array.shape[-1] != frequency_array.shape[-1]:
        raise WriteampError(
            f"sizes has {size_array.shape[-1]} values and frequencies {frequency_array.shape[-1]}; "
            "give one size and one frequency for each group"
        )
    require_broadcast(sizes=size_array[..., 0], frequencies=frequency_array[..., 0], op=ratio)
    lead = np.broadcast_shapes(size_array.shape[:-1], frequency_array.shape[:-1], ratio.shape)
    shape = (*lead, size_array.shape[-1])
    return GroupTable(
        np.broadcast_to(_summing_to_1("sizes", size_array), shape),
        np.broadcast_to(_summing_to_1("frequencies", frequency_array), shape),
        np.broadcast_to(ratio, lead),
    )


def _summing_to_1(name: str, array: FloatArray) -> FloatArray:
    """Return shares scaled to a sum of exactly 1; raise an error if it differs too much from 1."""
    sums = array.sum(-1)
    raise_first(f"the sum of {name}", sums, np.abs(sums - 1) > SUM_TOLERANCE, "1")
    exact: FloatArray = array / sums[..., np.newaxis]
    return exact


def divided(method: str, groups: GroupTable) -> FloatArray:
    """Return each group's share of the over-provisioned space, shape (..., n).

    Args:
        method: "size", "frequency", "closed-form" or "optimal". The optimum has the lowest weighted
            WA, which is convex in the division. Let y = 1/δ, where δ is the share of valid pages in
            victims. With WA = y/(y−1) and OP/s = y·ln y/(y−1) − 1 (Dayan et al. 2015, eq. 3),
            Lagrange's condition is y − 1 − ln y = μ·p/s in each group. The common multiplier μ is
            the value at which all space is used. A group that is never written gets no space.
        groups: groups that share the space.
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
