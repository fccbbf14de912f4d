"""An allocation, and what the model predicts of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np

from writeamp.theory.allocation.division import divided
from writeamp.theory.allocation.groups import GroupTable
from writeamp.theory.models._arguments import FloatArray, FloatOrArray
from writeamp.theory.models.expected_value import expected_value


@dataclass(frozen=True)
class Allocation:
    """How over-provisioned space is divided between groups, and the write amplification of that.

    `op_shares` (shape (..., n)) is each group's share of the space, OP_x/OP; it sums to 1 over the
    last axis. Predictions are those of `models.expected_value` for each group by itself (Dayan et
    al. 2015, eqs. 3 to 5; eq. 4 as corrected: s/(s + OP)).
    """

    groups: GroupTable
    op_shares: FloatArray

    @property
    def op_of_group(self) -> FloatArray:
        """Each group's own over-provisioning OP_x/s_x, shape (..., n)."""
        return self.groups.op_of_group(self.op_shares)

    @property
    def wa_of_group(self) -> FloatArray:
        """WA of the writes to each group, shape (..., n); infinite for a group without space."""
        return wa_of_group(self.op_of_group)

    @property
    def wa(self) -> FloatOrArray:
        """WA of all writes: that of the groups weighted by their frequencies, shape (...)."""
        return weighted_wa(self.groups, self.wa_of_group)

    @property
    def over_optimal_percent(self) -> FloatOrArray:
        """By how much `wa` exceeds that of the optimum without any constraint, shape (...)."""
        best = weighted_wa(
            self.groups, wa_of_group(self.groups.op_of_group(divided("optimal", self.groups)))
        )
        # The optimum is a lower bound; what lies below it by a last bit is rounding.
        return cast(FloatOrArray, np.maximum(100 * (self.wa / best - 1), 0.0)[()])


def wa_of_group(op_of_group: FloatArray) -> FloatArray:
    """Return the model's WA of groups with this over-provisioning, infinite where there is none."""
    with_space = op_of_group > 0
    wa = np.asarray(expected_value(np.where(with_space, op_of_group, 1.0)))
    return np.where(with_space, wa, np.inf)


def weighted_wa(groups: GroupTable, wa: FloatArray) -> FloatOrArray:
    """Return the WA of all writes, eq. 5; a group that is never written counts for nothing."""
    written = groups.frequencies > 0
    parts = groups.frequencies * np.where(written, wa, 0.0)
    return cast(FloatOrArray, parts.sum(-1)[()])
