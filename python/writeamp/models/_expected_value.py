"""The Expected Value model, the exact limit of FIFO collection on a large drive."""

from __future__ import annotations

from typing import cast

import numpy as np
import numpy.typing as npt

from writeamp.fields.arguments import checked
from writeamp.models._arguments import FloatArray, FloatOrArray, amplified, positive
from writeamp.models._describes import Describes
from writeamp.models._model import Model, few_spare_blocks

# For h from this value up, h·coth(h) − 1 loses at most six bits in the subtraction. For smaller h,
# six terms of its series are exact to the last bit.
_SERIES_BELOW_H = 0.25

# Coefficients of h², h⁴, … in h·coth(h) − 1 (Bernoulli numbers: 2^(2k)·B_2k / (2k)!).
_SERIES = (1 / 3, -1 / 45, 2 / 945, -1 / 4725, 2 / 93555, -1382 / 638512875)

# The function is convex, so Newton's method converges monotonically from the upper bound
# min(op, (1+op)/2). At the worst op, 1, four steps reach the last bits.
_NEWTON_STEPS = 4

# Elements computed at once: temporary arrays of this size stay in the processor's cache, and malloc
# does not map new pages for them.
_SLICE = 8192


@checked
def expected_value(op: npt.ArrayLike) -> FloatOrArray:
    """Write amplification if pages of the victim were overwritten independently.

    Source: Park et al. 2017, section 3.3, eq. 5: with δ the valid share of the victim,
    (δ−1)/ln δ = 1/(1+ρ) and A = 1/(1−δ), where the paper's ρ is `op`. The paper solves it by the
    principal branch of Lambert's W, which loses half of its digits as ρ → 0, because its argument
    approaches the branch point.

    Here h = −ln(δ)/2 solves h + (h·coth(h) − 1) = ρ, both terms of which
    are positive and accurate, and A = 1/(1 − e^(−2h)).

    Args:
        op: over-provisioning ratio (T−U)/U, any shape, finite and greater than 0.

    Returns:
        Flash pages programmed per host page written, in the shape of `op` (a NumPy scalar for a
        scalar); the relative error is below 1e-14 for op from 1e-6 to 1e3.

    Raises:
        WriteampError: `op` is not a finite number greater than 0.

    >>> import writeamp as wa
    >>> wa.models.expected_value([0.07, 0.28]).round(4)
    array([7.8172, 2.4814])
    """
    return amplification(positive("op", op))


def amplification(op: FloatArray) -> FloatOrArray:
    """Compute `expected_value` of a checked array."""
    result = np.empty(op.shape)  # in C order, as reshape reads
    source, target = op.reshape(-1), result.reshape(-1)
    for start in range(0, source.size, _SLICE):
        chunk = slice(start, start + _SLICE)
        target[chunk] = _amplification(source[chunk])
    return cast(FloatOrArray, result[()])  # a scalar if op has no dimensions


def op_of_amplification(wa: FloatArray) -> FloatOrArray:
    """Return the op at which `amplification` is `wa`, an array of finite numbers above 1.

    op = −ln δ/(1 − δ) − 1 = h + (h·coth(h) − 1) with δ = 1 − 1/wa, without cancellation.
    """
    op, _ = op_at(0.5 * np.log1p(1.0 / (wa - 1.0)))
    return cast(FloatOrArray, op)


def op_at(h: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the op at which the victim's valid share is δ = e^(−2h), and d op/dh, for h > 0."""
    excess, slope = _excess(h)
    return h + excess, 1.0 + slope


def _amplification(op: FloatArray) -> FloatArray:
    h = np.minimum(op, 0.5 + 0.5 * op)
    for _ in range(_NEWTON_STEPS):
        reached, slope = op_at(h)
        h -= (reached - op) / slope
    with np.errstate(over="ignore"):  # below op 2.8e-309 the true WA is beyond float64
        return -1.0 / np.expm1(-2.0 * h)


def _excess(h: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return h·coth(h) − 1 and its derivative, for h > 0."""
    small = h < _SERIES_BELOW_H
    square = np.minimum(h, _SERIES_BELOW_H) ** 2
    series = np.zeros_like(h)
    series_slope = np.zeros_like(h)
    for power in range(len(_SERIES), 0, -1):
        series = series * square + _SERIES[power - 1]
        series_slope = series_slope * square + 2 * power * _SERIES[power - 1]
    large = np.maximum(h, _SERIES_BELOW_H)
    coth = 1.0 / np.tanh(large)
    value = np.where(small, series * square, large * coth - 1.0)
    slope = np.where(small, series_slope * h, coth - large * (coth * coth - 1.0))
    return value, slope


def _required_op(wa: npt.ArrayLike) -> FloatOrArray:
    return op_of_amplification(amplified("wa", wa))


MODEL = Model(
    name="expected-value",
    summary="each page of the victim was overwritten independently; exact for FIFO",
    assumes="uniform random writes, a full drive, many blocks, collection in order of age",
    source="Park et al. 2017, section 3.3, eq. 5 (after Luojie and Kurkoski 2012)",
    parameters=("op",),
    function=expected_value,
    inverse=_required_op,
    rules=(few_spare_blocks,),
    describes=(
        Describes(
            victims="fifo",
            row="expected-value",
            label="Expected Value (for comparison: FIFO and uniform writes)",
            is_comparison=True,
        ),
    ),
)
