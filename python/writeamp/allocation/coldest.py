"""Space of the coldest group, set before a method divides the rest among the other groups."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from writeamp.allocation.groups import GroupTable
from writeamp.errors import WriteampError
from writeamp.fields.arguments import checked
from writeamp.fields.domains import as_ratio
from writeamp.models._arguments import FloatArray, raise_first


@checked
@dataclass(frozen=True)
class ColdestGroup:
    """Rule for the space of the group with the lowest hit rate (writes per page).

    A method divides the remaining space among the other groups. The rule is needed because
    frequencies count host writes only: a group that mostly receives pages from hotter groups
    appears to need no space. `op` is the group's own over-provisioning, OP_x/s_x: its spare
    pages divided by its logical pages.

    With `below`, the rule is that of Dayan et al. 2015 (section 5.5.3, where `op` and `below` are
    0.05). The group gets exactly `op` if its hit rate is less than `below` times the next lowest
    hit rate. Without `below`, `op` is a minimum: it applies where the method would give the group
    less.
    """

    op: float = 0.05
    below: float | None = None

    def __post_init__(self) -> None:
        """Check that both values are valid ratios."""
        for name in ("op", "below"):
            object.__setattr__(self, name, as_ratio(f"coldest {name}", getattr(self, name)))
        if not (math.isfinite(self.op) and self.op > 0):
            raise WriteampError(f"coldest op is {self.op}; it must be a finite number above 0")
        if self.below is not None and not 0 < self.below <= 1:
            raise WriteampError(f"coldest below is {self.below}; it must be above 0 and at most 1")


def shares_with_coldest(
    method: Callable[[GroupTable], FloatArray], groups: GroupTable, rule: ColdestGroup
) -> FloatArray:
    """Return each group's share of the space under `method` and `rule`, shape (..., n).

    Raises:
        WriteampError: the coldest group would take all the space.
    """
    shares = method(groups)
    if groups.sizes.shape[-1] == 1:
        return shares  # a single group always gets all the space
    coldest = np.argmin(groups.hit_rates, axis=-1)
    size = _pick(groups.sizes, coldest)
    if rule.below is None:
        acts = _pick(shares, coldest) * groups.op < rule.op * size
    else:
        lowest, second = np.moveaxis(np.partition(groups.hit_rates, 1, axis=-1)[..., :2], -1, 0)
        acts = lowest < rule.below * second
    with np.errstate(over="ignore"):  # an overflow to infinity is rejected below
        own_share = np.where(acts, rule.op * size / groups.op, 0.0)
    raise_first(
        "the coldest group's share of the over-provisioned space",
        own_share,
        own_share >= 1,
        f"below 1 (the rule sets the op of this group alone to {rule.op:g})",
    )
    rest = groups.without(coldest, groups.op * (1 - own_share) / (1 - size))
    others = np.arange(shares.shape[-1]) != coldest[..., np.newaxis]
    ruled = np.empty(shares.shape)
    ruled[others] = (method(rest) * (1 - own_share)[..., np.newaxis]).reshape(-1)
    ruled[~others] = own_share.reshape(-1)
    return np.where(acts[..., np.newaxis], ruled, shares)


def _pick(array: FloatArray, index: npt.NDArray[np.intp]) -> FloatArray:
    """Return one element of the last axis for each index of the leading axes."""
    picked: FloatArray = np.take_along_axis(array, index[..., np.newaxis], axis=-1)[..., 0]
    return picked
