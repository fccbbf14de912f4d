"""The Markov model of greedy collection."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from writeamp.errors import WriteampError
from writeamp.fields.arguments import checked
from writeamp.models._arguments import (
    MAX_PAGES_PER_BLOCK,
    FloatOrArray,
    amplified,
    positive,
    require_broadcast,
    whole,
)
from writeamp.models._d_choices import d_choices
from writeamp.models._describes import Describes
from writeamp.models._expected_value import amplification, op_of_amplification
from writeamp.models._model import Model, ModelInputs, few_spare_blocks

# If the formula differs from the mean field by more than this share, a warning is given.
_VISIBLE_ERROR = 0.01


@checked
def markov(op: npt.ArrayLike, pages_per_block: npt.ArrayLike) -> FloatOrArray:
    """Write amplification of greedy collection with blocks of `pages_per_block` pages.

    Source: Park et al. 2017, section 3.4, eqs. 6-7 (their ρ is `op`, their N `pages_per_block`).
    With k = 1 + 1/(2N) the equations are A = A_ev(k(1+ρ) − 1)/k, where A_ev is the Expected Value
    model, which is computed without loss of digits near ρ = 0. For large ρ the formula tends to
    1/k < 1, which is impossible; it is returned unchanged.

    Args:
        op: over-provisioning ratio (T−U)/U, any shape, finite and greater than 0.
        pages_per_block: pages in one erase unit, broadcast against `op`, integers of at least 1.

    Returns:
        Flash pages programmed per host page written, in the broadcast shape (a NumPy scalar for
        scalars).

    Raises:
        WriteampError: an argument is out of range, or the shapes do not broadcast.

    >>> import writeamp as wa
    >>> round(float(wa.models.markov(0.28, 256)), 4)
    2.461
    """
    ratio = positive("op", op)
    pages = whole("pages_per_block", pages_per_block)
    require_broadcast(op=ratio, pages_per_block=pages)
    half_page = 0.5 / pages
    # k(1+ρ) − 1, written as a sum of positive terms.
    return amplification(ratio + (1.0 + ratio) * half_page) / (1.0 + half_page)


def _required_op(wa: npt.ArrayLike, pages_per_block: npt.ArrayLike) -> FloatOrArray:
    target = amplified("wa", wa)
    pages = whole("pages_per_block", pages_per_block)
    require_broadcast(wa=target, pages_per_block=pages)
    half_page = 0.5 / pages
    k = 1.0 + half_page
    op = (op_of_amplification(k * target) - half_page) / k
    if not np.all(op > 0):
        worst = np.argmin(op)
        shown, most, size = (
            float(np.broadcast_to(array, np.shape(op)).flat[worst])
            for array in (target, amplification(half_page) / k, pages)
        )
        raise WriteampError(
            f"wa must be less than {most:.6g}, which model markov approaches as op falls to 0 with "
            f"{size:.0f} pages per block, not {shown!r}"
        )
    return op


def _falls_below_one(drive: ModelInputs) -> str | None:
    wa = MODEL.wa(drive)
    if wa < 1:
        return (
            f"op {drive.op:.4g} is too large for {drive.pages_per_block:.0f} pages per block: the "
            f"formula gives {wa:.4f}, but WA is at least 1"
        )
    return None


def _misses_the_mean_field(drive: ModelInputs) -> str | None:
    # The mean field is computed for at most so many pages, because its time grows with them; above
    # that, formula and mean field agree.
    pages = min(drive.pages_per_block, MAX_PAGES_PER_BLOCK)
    wa, greedy = MODEL.wa(drive), float(d_choices(drive.spare_factor, pages, math.inf))
    if wa < 1 or abs(wa / greedy - 1) <= _VISIBLE_ERROR:
        return None
    return (
        f"{wa:.4f} is {abs(wa / greedy - 1):.1%} {'below' if wa < greedy else 'above'} greedy "
        f"collection's mean field, {greedy:.4f} (d-choices with d=inf), which simulations confirm"
    )


MODEL = Model(
    name="markov",
    summary="greedy collection of blocks of a finite number of pages",
    assumes="uniform random writes, a full drive, many blocks, greedy collection; "
    "gives WA below 1 (impossible) if op exceeds about ln(2N) - 1, N the pages per block",
    source="Park et al. 2017, section 3.4, eqs. 6-7 (after Desnoyers 2012)",
    parameters=("op", "pages_per_block"),
    function=markov,
    inverse=_required_op,
    rules=(few_spare_blocks, _falls_below_one, _misses_the_mean_field),
    describes=(
        Describes(
            victims="greedy",
            row="markov",
            label="Markov (greedy, uniform writes)",
            is_reference=True,
            is_nearest=True,
        ),
    ),
)
