"""Mean field of d-choices collection, with greedy collection as its limit."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from writeamp.errors import WriteampError
from writeamp.fields.arguments import checked
from writeamp.models._arguments import (
    FloatArray,
    FloatOrArray,
    amplified,
    block_pages,
    elementwise,
    proper_share,
    whole_or_infinite,
)
from writeamp.models._describes import Describes
from writeamp.models._model import Model, few_spare_blocks

# Limit of Newton steps; the method converges monotonically, in about 14 steps for d = 1e6.
_NEWTON_STEPS = 200
# The last Newton step is one that changes the equations by at most this share: convergence is
# quadratic, so the remaining error is negligible.
_TOLERANCE = 1e-9
_ROUNDING = 4 * float(np.finfo(float).eps)

# Upper limit of the levels e_i, because log(1 − e_i) must be finite.
_BELOW_1 = float(np.nextafter(1.0, 0.0))

# Relative widening of a bracket of the root. If the root is an end of the bracket, rounding could
# otherwise give the wrong sign there.
_MARGIN = 1e-9


@checked
def d_choices(
    spare_factor: npt.ArrayLike, pages_per_block: npt.ArrayLike, d: npt.ArrayLike = 10
) -> FloatOrArray:
    """Write amplification if the victim is the emptiest of `d` blocks drawn with replacement.

    Source: Van Houdt 2013, "A mean field model for a class of garbage collection algorithms in
    flash-based solid state drives" (SIGMETRICS), for uniform random writes. With e_i the share of
    blocks that hold fewer than i valid pages, F = 1 − S_f the fill and λ = 1/(A·F), the stationary
    mean field, summed over the levels from i up, is

        λ·i·(e_{i+1} − e_i) = 1 − (1 − e_i)^d  for i = N … 1, e_{N+1} = 1, Σ e_i = N·S_f.

    Each e_i follows from the one above, so λ is the only unknown. As d → ∞ the right side is 1
    wherever e_i > 0, so that e_i = max(0, 1 − (1/N + … + 1/i)/λ): greedy collection, in closed
    form. d = 1 (random collection) gives exactly 1/S_f.

    Args:
        spare_factor: (T−U)/T = op/(1+op), any shape, at least 1e-300 and less than 1.
        pages_per_block: pages in one erase unit N, an integer from 1 to 2^20.
        d: blocks drawn, an integer from 1 to 2^32 − 1, or infinite for greedy collection.

    Returns:
        Flash pages programmed per host page written, in the broadcast shape (a NumPy scalar for
        scalars); the relative error is below 1e-12. An element takes about 1 ms at N = 128, 60 ms
        at N = 32768.

    Raises:
        WriteampError: an argument is out of range, or the shapes do not broadcast.

    >>> import writeamp as wa
    >>> round(float(wa.models.d_choices(spare_factor=0.28, pages_per_block=64, d=10)), 4)
    1.9932
    """
    return elementwise(
        _amplification,
        spare_factor=proper_share("spare_factor", spare_factor),
        pages_per_block=block_pages("pages_per_block", pages_per_block),
        d=whole_or_infinite("d", d),
    )


def _amplification(spare_factor: float, pages: float, d: float) -> float:
    if d == 1:
        return 1.0 / spare_factor
    fill = 1.0 - spare_factor
    if math.isinf(d):
        return max(1.0, 1.0 / (fill * _greedy_rate(spare_factor, int(pages))))

    def excess(log_rate: float) -> float:
        rate = math.exp(log_rate)
        levels = _levels(rate, int(pages), d)
        if spare_factor <= fill:
            return math.log(levels.sum() / (pages * spare_factor))
        # On an almost empty drive, the levels round to 1. The sum of all equations relates their
        # complements to the right sides, which stay exact.
        return math.log(rate * pages * fill / -_missed(levels, d).sum())

    # Bounds of WA: random collection, and no amplification.
    rate = _solve(excess, math.log(spare_factor / fill), -math.log(fill))
    return max(1.0, 1.0 / (fill * rate))


def _required_op(
    wa: npt.ArrayLike, pages_per_block: npt.ArrayLike, d: npt.ArrayLike = 10
) -> FloatOrArray:
    return elementwise(
        _op_of,
        wa=amplified("wa", wa),
        pages_per_block=block_pages("pages_per_block", pages_per_block),
        d=whole_or_infinite("d", d),
    )


def _op_of(wa: float, pages: float, d: float) -> float:
    if d == 1:
        return 1.0 / (wa - 1.0)
    if math.isinf(d):
        vacant = float(_greedy_levels(_greedy_rate_of(wa, int(pages)), int(pages)).sum())
        return vacant / (pages - vacant)

    def excess(log_rate: float) -> float:
        levels = _levels(math.exp(log_rate), int(pages), d)
        return math.log(-_missed(levels, d).sum() * wa / pages)

    # λ = 1/(wa·F), with F between that of random collection, 1 − 1/wa, and 1.
    rate = _solve(excess, -math.log(wa), -math.log(wa - 1.0))
    vacant = float(_levels(rate, int(pages), d).sum())
    return vacant / (pages - vacant)


def _solve(excess: Callable[[float], float], low: float, high: float) -> float:
    """Return e^x for the root x of `excess` between `low` and `high`."""
    from scipy.optimize import brentq  # type: ignore[import-untyped]  # noqa: PLC0415

    return math.exp(brentq(excess, low - _MARGIN, high + _MARGIN, xtol=1e-15, rtol=1e-15))


def _levels(rate: float, pages: int, d: float) -> FloatArray:
    """Return e_1 … e_N for a given λ and finite d > 1, by Newton's method on all levels at once.

    The equations are concave in e, and their bidiagonal Jacobian is an M-matrix. Newton's method
    starts from the levels of greedy collection, which are below the solution, and therefore
    increases monotonically.
    """
    from scipy.linalg.lapack import dtbtrs  # type: ignore[import-untyped]  # noqa: PLC0415

    flow = rate * np.arange(1.0, pages + 1)
    levels: FloatArray = np.minimum(_greedy_levels(rate, pages), _BELOW_1)
    above = np.empty(pages)
    above[-1] = 1.0
    jacobian = np.empty((2, pages))  # LAPACK's band storage: the diagonal is the last row
    jacobian[0, 0], jacobian[0, 1:] = 0.0, -flow[:-1]
    for _ in range(_NEWTON_STEPS):
        above[:-1] = levels[1:]
        missed = _missed(levels, d)
        slope = d * (1.0 + missed) / (1.0 - levels)
        jacobian[1] = flow + slope
        step = dtbtrs(jacobian, flow * (above - levels) + missed, uplo="U")[0].reshape(-1)
        levels = np.clip(levels + step, 0.0, _BELOW_1)
        # Steps are not reliable below the rounding error of the two nearly equal sides.
        noise = _ROUNDING * (flow * above - missed) / jacobian[1]
        size = np.maximum(np.abs(step) - noise, 0.0)
        if size.sum() <= _TOLERANCE * levels.sum() and slope @ size <= -_TOLERANCE * missed.sum():
            return levels
    raise AssertionError(
        f"Newton's method for the levels did not converge: λ {rate}, N {pages}, d {d}"
    )


def _missed(levels: FloatArray, d: float) -> FloatArray:
    """Return (1 − e)^d − 1, the negative probability that one of d blocks is below the level."""
    result: FloatArray = np.expm1(d * np.log1p(-levels))
    return result


def _greedy_levels(rate: float, pages: int) -> FloatArray:
    levels: FloatArray = np.maximum(0.0, 1.0 - _harmonic_tails(pages) / rate)
    return levels


def _harmonic_tails(pages: int) -> FloatArray:
    """Return 1/N + … + 1/i for i = 1 … N."""
    tails: FloatArray = np.cumsum(1.0 / np.arange(pages, 0.0, -1.0))[::-1]
    return tails


def _greedy_rate(spare_factor: float, pages: int) -> float:
    """Return the λ at which the levels of greedy collection sum to N·S_f."""
    tails = _harmonic_tails(pages)
    tail_sums = np.cumsum(tails[::-1])[::-1]
    above = np.arange(pages, 0.0, -1.0)  # levels from i up
    vacant, valid = pages * spare_factor, pages * (1.0 - spare_factor)
    # For each i: the sum of the levels at the λ above which e_i exceeds 0. This λ is the tail of i.
    sums_at_departure = above - tail_sums / tails
    lowest = np.searchsorted(-sums_at_departure, -vacant, side="right")
    return float(tail_sums[lowest] / (valid - (pages - above[lowest])))


def _greedy_rate_of(wa: float, pages: int) -> float:
    """Return the λ at which greedy victims have N/wa invalid pages on average.

    The average is N − x + x·(λ − tail of x+1), with x the highest level that no block is below.
    """
    invalid = pages / wa
    if invalid <= 1:
        raise WriteampError(
            f"wa must be less than {pages}, the pages per block, for greedy collection (d "
            f"infinite), not {wa!r}"
        )
    whole = int(invalid)
    last = pages - whole
    return float(_harmonic_tails(pages)[last]) + (invalid - whole) / last


MODEL = Model(
    name="d-choices",
    summary="the emptiest of d random blocks is collected; d = 1 is random, d = inf greedy",
    assumes="uniform random writes, a full drive, many blocks, collection of the emptiest of d "
    "blocks drawn at random",
    source="Van Houdt 2013 (SIGMETRICS), mean field for uniform writes, cited by Park et al. 2017",
    parameters=("spare_factor", "pages_per_block", "d"),
    function=d_choices,
    inverse=_required_op,
    rules=(few_spare_blocks,),
    describes=(
        Describes(
            victims="d-choices",
            row="{victims}",
            label="mean field ({victims}, uniform writes)",
            kind="mean-field",
            arguments={"d": "victims.d"},
        ),
        Describes(
            victims="greedy",
            row="greedy",
            label="mean field (greedy, uniform writes)",
            kind="mean-field",
            arguments={"d": math.inf},
            is_reference=True,
        ),
        Describes(
            victims="random",
            row="1/spare_factor",
            label="= 1/spare_factor (random victims, uniform writes)",
            arguments={"d": 1},
        ),
    ),
)
