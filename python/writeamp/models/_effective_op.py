"""Effective over-provisioning of a drive that is partly full and has cold data."""

from __future__ import annotations

import numpy.typing as npt

from writeamp.fields.arguments import checked
from writeamp.models._arguments import (
    FloatOrArray,
    positive,
    raise_first,
    require_broadcast,
    share,
)


@checked
def effective_op(
    op: npt.ArrayLike, utilization: npt.ArrayLike, written_fraction: npt.ArrayLike
) -> FloatOrArray:
    """Effective op, which replaces `op` in models that assume a full, uniformly written drive.

    Source: Park et al. 2017, section 4.5, eq. 8: ρ̄ = ((1 − R_util) + ρ) / R_hot. All free space
    counts as spare, and all spare space serves the hot data. It assumes that cold data is never
    written, never collected, and never shares a block with hot data.

    Args:
        op: over-provisioning ratio (T−U)/U of the drive, finite and greater than 0.
        utilization: share of the logical space that holds data, above 0 and at most 1.
        written_fraction: share of the logical space that is written (uniformly, at random), above
            0 and at most `utilization`.

    Returns:
        The effective op, in the broadcast shape (a NumPy scalar for scalars).

    Raises:
        WriteampError: an argument is out of range, or the shapes do not broadcast.

    >>> import writeamp as wa
    >>> round(float(wa.models.effective_op(0.147, 0.9, 0.3)), 4)
    0.8233
    """
    ratio = positive("op", op)
    used, hot = share("utilization", utilization), share("written_fraction", written_fraction)
    require_broadcast(op=ratio, utilization=used, written_fraction=hot)
    raise_first("written_fraction", hot + 0 * used, hot > used, "at most the utilization")
    return ((1.0 - used) + ratio) / hot
