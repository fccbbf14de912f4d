"""Division of space between groups, and its write amplification as the model predicts it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from writeamp.allocation.groups import GroupTable, divided
from writeamp.errors import WriteampError
from writeamp.models._arguments import FloatArray, FloatOrArray
from writeamp.models._expected_value import expected_value
from writeamp.plots.figures.allocation import op_shares_by_method
from writeamp.plots.spec import BarChart
from writeamp.results.card import Card
from writeamp.results.drawn import Drawn
from writeamp.results.numbers import json_number


@dataclass(frozen=True, eq=False)
class Allocation(Drawn):
    """Division of over-provisioned space between groups, and its write amplification.

    `op_shares` (shape (..., n)) is each group's share of the space, OP_x/OP; it sums to 1 over the
    last axis. Predictions are those of `models.expected_value` for each group on its own (Dayan et
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
        """WA of all writes: the mean over groups, weighted by their frequencies, shape (...)."""
        return weighted_wa(self.groups, self.wa_of_group)

    @property
    def over_optimal_percent(self) -> FloatOrArray:
        """Excess of `wa` over the unconstrained optimum in percent, shape (...)."""
        best = weighted_wa(
            self.groups, wa_of_group(self.groups.op_of_group(divided("optimal", self.groups)))
        )
        # No division is better than the optimum, so a negative difference is a rounding error.
        return cast(FloatOrArray, np.maximum(100 * (self.wa / best - 1), 0.0)[()])

    def card(self) -> Card:
        """Return one row for each group, or for each drive if there are several."""
        if self.op_shares.ndim > 1:
            drives = zip(np.ravel(self.wa), np.ravel(self.over_optimal_percent), strict=True)
            rows = [(f"{wa:.4f}", f"{percent:.3f}") for wa, percent in drives]
            columns: tuple[str, ...] = (">WA", ">over the optimum (%)")
            return Card("Allocations of spare space", rows, columns)
        names = ("size", "frequency", "op_share", "op_of_group", "wa_of_group")
        return Card(
            f"Allocation of spare space at op = (T-U)/U = {float(self.groups.op):.4g}: WA "
            f"{float(self.wa):.4f}, {float(self.over_optimal_percent):.3f}% over the optimum",
            [
                (
                    str(record["group"] + 1),
                    *(f"{np.inf if record[name] is None else record[name]:.4g}" for name in names),
                )
                for record in self._records()
            ],
            (">group", *(f">{name.replace('_', ' ')}" for name in names)),
        )

    def _records(self) -> list[dict[str, Any]]:
        return records_of(
            self.groups,
            self.op_shares,
            self.wa_of_group,
            wa=self.wa,
            over_optimal_percent=self.over_optimal_percent,
        )

    def figure(self) -> BarChart:
        """Return a chart of the share of the space that each group gets.

        Raises:
            WriteampError: there are several drives.
        """
        if self.op_shares.ndim > 1:
            raise WriteampError(
                f"the allocation has the shape {self.op_shares.shape}, but a figure shows one "
                "drive; draw each drive on its own"
            )
        groups = list(
            zip(self.groups.sizes.tolist(), self.groups.frequencies.tolist(), strict=True)
        )
        op = float(self.groups.op)
        return op_shares_by_method(
            groups,
            {"allocation": (self.op_shares.tolist(), float(self.wa))},
            subtitle=f"op = (T-U)/U = {op:.4g}",
        )


def records_of(
    groups: GroupTable, op_shares: FloatArray, wa_of_group: FloatArray, **of_drives: FloatOrArray
) -> list[dict[str, Any]]:
    """Return one row for each group of each drive, as JSON types; both indices start at 0.

    Args:
        groups: groups of the drives.
        op_shares: shares of the space, shape (..., n).
        wa_of_group: WA by group, shape (..., n); infinite values become null.
        of_drives: further columns by name, each of shape (...).
    """
    shape = op_shares.shape
    arrays = {
        "size": groups.sizes,
        "frequency": groups.frequencies,
        "op_share": op_shares,
        "op_of_group": groups.op_of_group(op_shares),
        "wa_of_group": wa_of_group,
    }
    for name, values in {"op": groups.op, **of_drives}.items():
        arrays[name] = np.asarray(values)[..., np.newaxis]
    columns = {name: np.broadcast_to(array, shape).ravel() for name, array in arrays.items()}
    return [
        {"drive": row // shape[-1], "group": row % shape[-1]}
        | {name: json_number(float(column[row])) for name, column in columns.items()}
        for row in range(op_shares.size)
    ]


def wa_of_group(op_of_group: FloatArray) -> FloatArray:
    """Return the model's WA of groups with this over-provisioning; infinite if it is 0."""
    with_space = op_of_group > 0
    wa = np.asarray(expected_value(np.where(with_space, op_of_group, 1.0)))
    return np.where(with_space, wa, np.inf)


def weighted_wa(groups: GroupTable, wa: FloatArray) -> FloatOrArray:
    """Return the WA of all writes (eq. 5); groups that are never written do not count."""
    written = groups.frequencies > 0
    weighted = groups.frequencies * np.where(written, wa, 0.0)
    return cast(FloatOrArray, weighted.sum(-1)[()])
