"""Space of the coldest group, set before a method divides the rest among the others."""

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
    """Set the space of the group with the lowest hit rate; a method divides what remains.

    Frequencies count the host's writes alone, so that a group which mostly receives pages from
    hotter groups looks as if it needed no space. `op` is over-provisioning of that group's own
    size, OP_x/s_x. With `below`, the rule of Dayan et al. 2015 (section 5.5.3, where both are
    0.05): the group has exactly `op` if its hit rate is less than that share of the next one's.
    Without, `op` is a floor: the group has `op` where the method would give it less.
    """

    op: float = 0.05
    below: float | None = None

    def __post_init__(self) -> None:
        """Refuse what is no ratio."""
        for name in ("op", "below"):
            object.__setattr__(self, name, as_ratio(f"coldest {name}", getattr(self, name)))
        if not (math.isfinite(self.op) and self.op > 0):
            raise WriteampError(f"coldest op is {self.op}; it must be a finite number above 0")
        if self.below is not None and not 0 < self.below <= 1:
            raise WriteampError(
                f"coldest below is {self.below}; it must lie above 0 and at most at 1"
            )


def shares_with_coldest(
    method: Callable[[GroupTable], FloatArray], groups: GroupTable, rule: ColdestGroup
) -> FloatArray:
    """Return the shares that `method` gives under `rule`, shape (..., n).

    Raises:
        WriteampError: the coldest group would take all of the space.
    """
    shares = method(groups)
    if groups.sizes.shape[-1] == 1:
        return shares  # its space is all there is
    coldest = np.argmin(groups.hit_rates, axis=-1)
    size = _pick(groups.sizes, coldest)
    if rule.below is None:
        acts = _pick(shares, coldest) * groups.op < rule.op * size
    else:
        lowest, second = np.moveaxis(np.partition(groups.hit_rates, 1, axis=-1)[..., :2], -1, 0)
        acts = lowest < rule.below * second
    with np.errstate(over="ignore"):  # what is too much for a double is too much for the drive
        own_share = np.where(acts, rule.op * size / groups.op, 0.0)
    raise_first(
        "the coldest group's share of the over-provisioned space",
        own_share,
        own_share >= 1,
        f"below 1 (with an op of {rule.op:g} for its own size)",
    )
    rest = groups.without(coldest, groups.op * (1 - own_share) / (1 - size))
    others = np.arange(shares.shape[-1]) != coldest[..., np.newaxis]
    ruled = np.empty(shares.shape)
    ruled[others] = (method(rest) * (1 - own_share)[..., np.newaxis]).reshape(-1)
    ruled[~others] = own_share.reshape(-1)
    return np.where(acts[..., np.newaxis], ruled, shares)


def _pick(array: FloatArray, index: npt.NDArray[np.intp]) -> FloatArray:
    """Return one element of the last axis for each of the leading ones."""
    picked: FloatArray = np.take_along_axis(array, index[..., np.newaxis], axis=-1)[..., 0]
    return picked
