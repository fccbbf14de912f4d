"""Methods that divide over-provisioned space between groups (Dayan et al. 2015, §5.5).

Every method takes sizes and frequencies of n groups, shape (..., n), and the drive's op, shape
(...). Leading axes are broadcast; `groups.checked_groups` checks the arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

import numpy.typing as npt

from writeamp.allocation.coldest import ColdestGroup, shares_with_coldest
from writeamp.allocation.groups import checked_groups, divided
from writeamp.allocation.result import Allocation


def by_size(
    sizes: npt.ArrayLike,
    frequencies: npt.ArrayLike,
    op: npt.ArrayLike,
    coldest: ColdestGroup | None = None,
) -> Allocation:
    """Give each group space in proportion to its size: OP_x = s_x·V, V = PBA/LBA − 1 (eq. 6).

    Greedy collection across all groups leads to this division: every group has the WA of an
    undivided drive.

    Returns:
        `Allocation`: `op_shares` and `op_of_group` (arrays by group), `wa_of_group`, `wa` of all
        writes, `over_optimal_percent`.

    >>> import writeamp as wa
    >>> wa.allocation.by_size([0.75, 0.25], [0.2, 0.8], 0.4).op_shares
    array([0.75, 0.25])
    """
    return _allocation("size", sizes, frequencies, op, coldest)


def by_frequency(
    sizes: npt.ArrayLike,
    frequencies: npt.ArrayLike,
    op: npt.ArrayLike,
    coldest: ColdestGroup | None = None,
) -> Allocation:
    """Give each group space in proportion to its writes: OP_x = p_x·OP (eq. 7).

    The printed second line of eq. 7, p_x·(1/V + 1), is wrong; this uses its first line.

    Returns:
        `Allocation`: `op_shares` and `op_of_group` (arrays by group), `wa_of_group`, `wa` of all
        writes, `over_optimal_percent`.

    >>> import writeamp as wa
    >>> wa.allocation.by_frequency([0.75, 0.25], [0.2, 0.8], 0.4).op_shares
    array([0.2, 0.8])
    """
    return _allocation("frequency", sizes, frequencies, op, coldest)


def closed_form(
    sizes: npt.ArrayLike,
    frequencies: npt.ArrayLike,
    op: npt.ArrayLike,
    coldest: ColdestGroup | None = None,
) -> Allocation:
    """Give each group the mean of `by_size` and `by_frequency` (eq. 8, corrected).

    The space of group x is OP_x = OP·(s_x/LBA + p_x)/2.

    Returns:
        `Allocation`: `op_shares` and `op_of_group` (arrays by group), `wa_of_group`, `wa` of all
        writes, `over_optimal_percent`.

    >>> import writeamp as wa
    >>> wa.allocation.closed_form([0.75, 0.25], [0.2, 0.8], 0.4).op_shares
    array([0.475, 0.525])
    """
    return _allocation("closed-form", sizes, frequencies, op, coldest)


def optimal(
    sizes: npt.ArrayLike,
    frequencies: npt.ArrayLike,
    op: npt.ArrayLike,
    coldest: ColdestGroup | None = None,
) -> Allocation:
    """Divide the space so that the predicted WA of all writes is lowest, exactly.

    Returns:
        `Allocation`: `op_shares` and `op_of_group` (arrays by group), `wa_of_group`, `wa` of all
        writes, `over_optimal_percent`.

    >>> import writeamp as wa
    >>> wa.allocation.optimal([0.75, 0.25], [0.2, 0.8], 0.4).op_shares.round(4)
    array([0.4764, 0.5236])
    """
    return _allocation("optimal", sizes, frequencies, op, coldest)


METHODS: Mapping[str, Callable[..., Allocation]] = MappingProxyType(
    {
        "size": by_size,
        "frequency": by_frequency,
        "closed-form": closed_form,
        "optimal": optimal,
    }
)


def _allocation(
    method: str,
    sizes: npt.ArrayLike,
    frequencies: npt.ArrayLike,
    op: npt.ArrayLike,
    coldest: ColdestGroup | None,
) -> Allocation:
    groups, divide = checked_groups(sizes, frequencies, op), partial(divided, method)
    shares = divide(groups) if coldest is None else shares_with_coldest(divide, groups, coldest)
    return Allocation(groups, shares)
