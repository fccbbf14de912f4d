"""Function `allocate`: over-provisioned space divided between groups by every method."""

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
        op: over-provisioning ratio, or one of
        fill: logical over physical pages, and
        spare_factor: spare over physical pages.
        coldest_op: least space of the coldest group, as a ratio to its own size.
        coldest_below: share of the next group's hit rate, below which it gets exactly that.
        explore: instead of groups, compare the closed form with the optimum in every workload of so
            many equal chunks.
        progress: called with the workloads that are explored, and all of them.

    Returns:
        `AllocationsByMethod`, whose `allocations` has an `Allocation` for each method; or, with
        `explore`, `Exploration`, whose `by_groups` is a data frame.

    Raises:
        WriteampError: an input that is missing or cannot be used.

    >>> import writeamp as wa
    >>> found = wa.allocate([0.7, 0.3], [0.2, 0.8], op=0.25)
    >>> sorted(found.allocations)
    ['closed-form', 'frequency', 'optimal', 'size']
    """
    given: dict[str, Any] = {
        "sizes": sizes,
        "frequencies": frequencies,
        "op": op,
        "fill": fill,
        "spare_factor": spare_factor,
        "coldest_op": coldest_op,
        "coldest_below": coldest_below,
        "explore": explore,
    }
    asked = DivisionSettings(**given)
    ratio = op_of(op=asked.op, fill=asked.fill, spare_factor=asked.spare_factor)
    if ratio is None:
        raise WriteampError(f"over-provisioning is missing; give one of {', '.join(RATIOS)}")
    if asked.coldest_op is None and asked.coldest_below is not None:
        raise WriteampError("coldest_below is given without coldest_op; give both or coldest_op")
    coldest = None
    if asked.coldest_op is not None:
        coldest = ColdestGroup(asked.coldest_op, asked.coldest_below)
    if asked.explore is not None:
        if asked.sizes is not None or asked.frequencies is not None or coldest is not None:
            raise WriteampError(
                "explore goes through all sizes and frequencies by the plain methods; give it "
                "neither those nor a coldest group"
            )
        return Exploration.of(asked.explore, ratio, progress)
    if asked.sizes is None or asked.frequencies is None:
        missing = "sizes" if asked.sizes is None else "frequencies"
        raise WriteampError(f"{missing} is missing; give sizes and frequencies, or explore")
    return AllocationsByMethod.of(asked.sizes, asked.frequencies, ratio, coldest)
