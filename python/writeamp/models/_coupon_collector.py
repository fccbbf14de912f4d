"""The Coupon Collector model of windowed greedy collection."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from writeamp.errors import WriteampError
from writeamp.fields.arguments import checked
from writeamp.models._arguments import (
    FloatOrArray,
    amplified,
    block_pages,
    count,
    elementwise,
    large_or_infinite,
    positive,
    whole,
)
from writeamp.models._binomial_maximum import expected_maximum
from writeamp.models._d_choices import d_choices
from writeamp.models._expected_value import amplification, op_of_amplification
from writeamp.models._model import Model, ModelInputs
from writeamp.units.ratios import physical_of

# Relative distance that is treated as rounding: of WA from that of greedy collection, and of op
# from its lower limit.
_BARELY = 1e-9


@checked
def coupon_collector(
    op: npt.ArrayLike,
    pages_per_block: npt.ArrayLike,
    window: npt.ArrayLike = 64,
    reserve: npt.ArrayLike = 0,
    logical_blocks: npt.ArrayLike = math.inf,
) -> FloatOrArray:
    """Write amplification if the emptiest of the oldest `window` blocks is the victim.

    Source: Park et al. 2017, section 3.1, eq. 3 (after Hu et al. 2009): A = N/(N − E[valid pages
    of the victim]). The paper does not define p_k and its parameters; docs/models.md lists the
    assumptions made here.

    The i-th oldest block (i = 0 … s − 1) was filled T − r − i blocks ago, each of
    which took N/A host writes, so that a page of it was overwritten with probability
    q_i = 1 − (1 − 1/(UN))^((T−r−i)·N/A). Its invalid pages are Binomial(N, q_i), independently of
    the other blocks', and the victim has the most of them:

        N/A = E[max_i Binomial(N, q_i)] = Σ_{k=0}^{N−1} (1 − Π_i P(Binomial(N, q_i) ≤ k)).

    Both sides depend on A, which is the root of this equation. For s = 1, r = 0 and U → ∞ it is the
    equation of the Expected Value model. For s > 1 the model is wrong: it ignores that the window
    contains blocks that collection has already passed over, so that its victims are too empty, by
    far for large s.

    Args:
        op: over-provisioning ratio (T−U)/U, any shape, finite and greater than 0.
        pages_per_block: pages in one erase unit N, an integer from 1 to 2^20.
        window: oldest blocks s among which the victim is chosen, an integer from 1 to T − r.
        reserve: reserved free blocks r, an integer of at least 0 and less than T − U.
        logical_blocks: logical size U in blocks, at least 2, or infinite for the limit of a large
            drive, in which r and the differences of age within the window do not matter.

    Returns:
        Flash pages programmed per host page written, in the broadcast shape (a NumPy scalar for
        scalars); the relative error is below 1e-10. An element takes about 1 ms at N = 512 and
        tens of milliseconds at N = 32768.

    Raises:
        WriteampError: an argument is out of range, or the shapes do not broadcast.

    >>> import writeamp as wa
    >>> round(float(wa.models.coupon_collector(0.28, 256)), 4)
    1.6112
    """
    return elementwise(
        _amplification,
        op=positive("op", op),
        pages_per_block=block_pages("pages_per_block", pages_per_block),
        window=whole("window", window),
        reserve=count("reserve", reserve),
        logical_blocks=large_or_infinite("logical_blocks", logical_blocks),
    )


@dataclass(frozen=True)
class _Queue:
    """The oldest blocks of a drive, and the rate at which their pages become invalid.

    A page of the i-th oldest of the `window` blocks is still valid with probability
    e^(−(1 + surplus − i·spacing)/A).
    """

    pages_per_block: int
    window: int
    surplus: float
    spacing: float

    def invalid_share(self, inverse_wa: float) -> float:
        """Return the expected share of invalid pages of the victim, if A is 1/`inverse_wa`."""
        oldest, spacing = (1.0 + self.surplus) * inverse_wa, self.spacing * inverse_wa
        pages = expected_maximum(self.pages_per_block, self.window, oldest, spacing)
        return pages / self.pages_per_block


def _queue(
    op: float, pages_per_block: float, window: float, reserve: float, logical_blocks: float
) -> _Queue:
    pages, blocks = int(pages_per_block), int(window)
    if math.isinf(logical_blocks):
        return _Queue(pages, blocks, op, 0.0)
    haste = _haste(pages, logical_blocks)
    surplus = op - reserve / logical_blocks
    return _Queue(pages, blocks, surplus + haste * (1.0 + surplus), (1.0 + haste) / logical_blocks)


def _haste(pages_per_block: float, logical_blocks: float) -> float:
    """Return −UN·ln(1 − 1/(UN)) − 1: relative excess of the invalidation rate over 1/(UN).

    Computed by the inverse of the Expected Value model, which has no cancellation.
    """
    return float(op_of_amplification(np.asarray(logical_blocks * pages_per_block)))


def _amplification(
    op: float, pages_per_block: float, window: float, reserve: float, logical_blocks: float
) -> float:
    physical_blocks = physical_of(logical_blocks, op)
    if not reserve < logical_blocks * op:
        raise WriteampError(
            f"reserve must be less than the {logical_blocks * op:.6g} spare blocks of "
            f"{logical_blocks:.6g} logical blocks at op {op:.6g}, not {reserve:.0f}"
        )
    if not window <= physical_blocks - reserve:
        raise WriteampError(
            f"window must be at most the {physical_blocks - reserve:.6g} blocks outside the "
            f"reserve of a drive of {physical_blocks:.6g}, not {window:.0f}"
        )
    queue = _queue(op, pages_per_block, window, reserve, logical_blocks)
    first_in_first_out = float(amplification(np.asarray(queue.surplus)))
    if window == 1:
        return first_in_first_out
    # Bounds of 1/WA: if the oldest block is always the victim, and without amplification.
    return 1.0 / _root(
        lambda share: queue.invalid_share(share) - share, 1.0 / first_in_first_out, 1.0
    )


def _root(falling: Callable[[float], float], low: float, high: float) -> float:
    """Return the root between `low` and `high`, or the bound if it is the root within rounding."""
    from scipy.optimize import brentq  # type: ignore[import-untyped]  # noqa: PLC0415

    if falling(low) <= 0:
        return low
    if falling(high) >= 0:
        return high
    return float(brentq(falling, low, high, xtol=1e-300, rtol=1e-15))


def _required_op(
    wa: npt.ArrayLike,
    pages_per_block: npt.ArrayLike,
    window: npt.ArrayLike = 64,
    reserve: npt.ArrayLike = 0,
    logical_blocks: npt.ArrayLike = math.inf,
) -> FloatOrArray:
    return elementwise(
        _op_of,
        wa=amplified("wa", wa),
        pages_per_block=block_pages("pages_per_block", pages_per_block),
        window=whole("window", window),
        reserve=count("reserve", reserve),
        logical_blocks=large_or_infinite("logical_blocks", logical_blocks),
    )


def _op_of(
    wa: float, pages_per_block: float, window: float, reserve: float, logical_blocks: float
) -> float:
    # The upper bound is the op that is required if the oldest block is always the victim.
    most = float(op_of_amplification(np.asarray(wa)))
    least = 0.0
    if not math.isinf(logical_blocks):
        haste = _haste(pages_per_block, logical_blocks)
        most = (most - haste) / (1.0 + haste) + reserve / logical_blocks
        least = max(reserve, window + reserve - logical_blocks) / logical_blocks

    def shortage(op: float) -> float:
        queue = _queue(op, pages_per_block, window, reserve, logical_blocks)
        return 1.0 / wa - queue.invalid_share(1.0 / wa)

    if most <= least or (window > 1 and shortage(least) <= 0):
        nearly = least + _BARELY * (1.0 + least)
        limit = _amplification(nearly, pages_per_block, window, reserve, logical_blocks)
        raise WriteampError(
            f"wa must be less than {limit:.6g}, which model coupon-collector approaches as op "
            f"falls to {least:.6g} with {pages_per_block:.0f} pages per block, window "
            f"{window:.0f}, reserve {reserve:.0f} and {logical_blocks:.6g} logical blocks, "
            f"not {wa!r}"
        )
    return most if window == 1 else _root(shortage, least, most)


def _beats_greedy(drive: ModelInputs) -> str | None:
    wa = MODEL.wa(drive)
    greedy = float(d_choices(drive.spare_factor, drive.pages_per_block, math.inf))
    if wa < greedy * (1 - _BARELY):
        return (
            f"{wa:.4f} is below {greedy:.4f} of greedy collection, which is impossible: the model "
            "ignores that its window contains blocks that collection has passed over"
        )
    return None


MODEL = Model(
    name="coupon-collector",
    summary="windowed greedy: the emptiest of the s oldest blocks is collected",
    assumes="uniform random writes, a full drive, independent valid counts in the window; WA is "
    "too low for a window above 1, which has blocks that collection has passed over",
    source="Park et al. 2017, section 3.1, eq. 3 (after Hu et al. 2009)",
    parameters=("op", "pages_per_block", "window", "reserve", "logical_blocks"),
    function=coupon_collector,
    inverse=_required_op,
    rules=(_beats_greedy,),
    is_default=False,
)
