"""The methods by which over-provisioned space is divided between groups (Dayan et al. 2015, §5.5).

Every method takes sizes and frequencies of shape (..., n) and the drive's op of shape (...), which
broadcast over the leading axes; `groups.checked_groups` says what is valid.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy.typing as npt

from writeamp.allocation.coldest import ColdestGroup, shares_with_coldest
from writeamp.allocation.groups import Groups, checked_groups
from writeamp.allocation.optimum import optimal_shares
from writeamp.allocation.result import Allocation
from writeamp.models._arguments import FloatArray


def by_size(
    sizes: npt.ArrayLike,
    frequencies: npt.ArrayLike,
    op: npt.ArrayLike,
    coldest: ColdestGroup | None = None,
) -> Allocation:
    """Give each group space in proportion to its size: OP_x = s_x·V, V = PBA/LBA − 1 (eq. 6).

    Greedy collection across all groups ends up there: every group has the WA of a drive that is
    not divided.
    """
    return _allocation(_size_shares, sizes, frequencies, op, coldest)


def by_frequency(
    sizes: npt.ArrayLike,
    frequencies: npt.ArrayLike,
    op: npt.ArrayLike,
    coldest: ColdestGroup | None = None,
) -> Allocation:
    """Give each group space in proportion to its writes: OP_x = p_x·OP (eq. 7).

    The second line of eq. 7 as printed, p_x·(1/V + 1), is not the space; its first line stands.
    """
    return _allocation(_frequency_shares, sizes, frequencies, op, coldest)


def closed_form(
    sizes: npt.ArrayLike,
    frequencies: npt.ArrayLike,
    op: npt.ArrayLike,
    coldest: ColdestGroup | None = None,
) -> Allocation:
    """Give each group the mean of the other two: OP_x = OP·(s_x/LBA + p_x)/2 (eq. 8, corrected)."""
    return _allocation(closed_form_shares, sizes, frequencies, op, coldest)


def optimal(
    sizes: npt.ArrayLike,
    frequencies: npt.ArrayLike,
    op: npt.ArrayLike,
    coldest: ColdestGroup | None = None,
) -> Allocation:
    """Divide the space so that the predicted WA of all writes is least, exactly."""
    return _allocation(optimal_shares, sizes, frequencies, op, coldest)


METHODS: Mapping[str, Callable[..., Allocation]] = MappingProxyType(
    {
        "size": by_size,
        "frequency": by_frequency,
        "closed-form": closed_form,
        "optimal": optimal,
    }
)


def _allocation(
    method: Callable[[Groups], FloatArray],
    sizes: npt.ArrayLike,
    frequencies: npt.ArrayLike,
    op: npt.ArrayLike,
    coldest: ColdestGroup | None,
) -> Allocation:
    groups = checked_groups(sizes, frequencies, op)
    shares = method(groups) if coldest is None else shares_with_coldest(method, groups, coldest)
    return Allocation(groups, shares)


def _size_shares(groups: Groups) -> FloatArray:
    return groups.sizes


def _frequency_shares(groups: Groups) -> FloatArray:
    return groups.frequencies


def closed_form_shares(groups: Groups) -> FloatArray:
    """Return each group's share of the space by eq. 8, shape (..., n)."""
    return (groups.sizes + groups.frequencies) / 2
