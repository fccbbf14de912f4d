"""Function `allocate`: divide over-provisioned space between groups by every method."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from writeamp.allocation.coldest import ColdestGroup
from writeamp.allocation.compared import AllocationsByMethod, Exploration
from writeamp.allocation.settings import DivisionSettings
from writeamp.errors import WriteampError
from writeamp.runners import Progress
from writeamp.units.ratios import RATIOS, RatioLike, op_of


def allocate(
    sizes: Sequence[float] | str | None = None,
    frequencies: Sequence[float] | str | None = None,
    *,
    op: RatioLike | None = None,
    fill: RatioLike | None = None,
    spare_factor: RatioLike | None = None,
    coldest_op: float | None = None,
    coldest_below: float | None = None,
    explore: int | None = None,
    progress: Progress | None = None,
) -> AllocationsByMethod | Exploration:
    """Divide over-provisioned space between groups by every method, and predict WA.

    Args:
        sizes: share of the logical pages in each group; they sum to 1.
        frequencies: share of the host's writes to each group; they sum to 1.
        op: over-provisioning ratio; give exactly one of `op`, `fill` and `spare_factor`.
        fill: ratio of logical to physical pages.
        spare_factor: ratio of spare to physical pages.
        coldest_op: minimum over-provisioning of the coldest group, as a ratio of space to the
            group's own size.
        coldest_below: the coldest group gets exactly `coldest_op` if its hit rate (writes per page)
            is below this share of the next lowest hit rate.
        explore: number of equal chunks; compares the closed form with the optimum in every
            workload made of them, instead of dividing space between given groups.
        progress: called with the number of workloads done and the total.

    Returns:
        `AllocationsByMethod`, whose `allocations` maps each method to its `Allocation`. With
        `explore`, an `Exploration`, whose `by_groups` is a data frame.

    Raises:
        WriteampError: an input is missing or invalid.

    >>> import writeamp as wa
    >>> result = wa.allocate([0.7, 0.3], [0.2, 0.8], op=0.25)
    >>> sorted(result.allocations)
    ['closed-form', 'frequency', 'optimal', 'size']
    """
    arguments: dict[str, Any] = {
        "sizes": sizes,
        "frequencies": frequencies,
        "op": op,
        "fill": fill,
        "spare_factor": spare_factor,
        "coldest_op": coldest_op,
        "coldest_below": coldest_below,
        "explore": explore,
    }
    settings = DivisionSettings(**arguments)
    ratio = op_of(op=settings.op, fill=settings.fill, spare_factor=settings.spare_factor)
    if ratio is None:
        raise WriteampError(f"over-provisioning is missing; give one of {', '.join(RATIOS)}")
    if settings.coldest_op is None and settings.coldest_below is not None:
        raise WriteampError("coldest_below needs coldest_op; add coldest_op or omit coldest_below")
    coldest = None
    if settings.coldest_op is not None:
        coldest = ColdestGroup(settings.coldest_op, settings.coldest_below)
    if settings.explore is not None:
        if settings.sizes is not None or settings.frequencies is not None or coldest is not None:
            raise WriteampError(
                "explore makes its own groups, without a rule for the coldest one; leave out "
                "explore, or leave out sizes, frequencies and coldest_op"
            )
        return Exploration.of(settings.explore, ratio, progress)
    if settings.sizes is None or settings.frequencies is None:
        missing = "sizes" if settings.sizes is None else "frequencies"
        raise WriteampError(f"{missing} is missing; give sizes and frequencies, or explore")
    return AllocationsByMethod.of(settings.sizes, settings.frequencies, ratio, coldest)
