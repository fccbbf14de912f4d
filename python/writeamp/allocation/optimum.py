"""The allocation with the least write amplification, from one equation in one unknown."""

from __future__ import annotations

import numpy as np

from writeamp.allocation.groups import Groups
from writeamp.models._arguments import FloatArray
from writeamp.models.expected_value import op_at

# Newton's method on a convex function: quadratic, and monotone from the second step on.
_MOST_STEPS = 60
_CLOSE_ENOUGH = 1e-13

# From a start that is 0.14% off at most, two of Halley's steps reach the last bits.
_HALLEY_STEPS = 2

# From here up e^u − 1 − u is e^u in double precision.
_LOG_LARGE = 45.0

# From here up e^u − 1 − u loses at most three bits to the subtraction, and below it the series is
# exact to the last bit.
_SERIES_BELOW = 0.25
_SERIES_TERMS = 13

# The temporaries of one slice stay in cache.
_SLICE_ROWS = 2048


def optimal_shares(groups: Groups) -> FloatArray:
    """Return each group's share of the over-provisioned space at the optimum, shape (..., n).

    With y = 1/δ, WA = y/(y−1) and OP/s = y·ln y/(y−1) − 1 (Dayan et al. 2015, eq. 3), the weighted
    WA is convex in the division, and Lagrange's condition is y − 1 − ln y = μ·p/s in each group,
    with one μ for all, at which the space is used up. A group that is never written gets none.
    """
    shape = groups.sizes.shape
    flat = Groups(
        groups.sizes.reshape(-1, shape[-1]),
        groups.frequencies.reshape(-1, shape[-1]),
        groups.op.reshape(-1),
    )
    shares = np.empty(flat.sizes.shape)
    for start in range(0, len(shares), _SLICE_ROWS):
        rows = slice(start, start + _SLICE_ROWS)
        part = Groups(flat.sizes[rows], flat.frequencies[rows], flat.op[rows])
        shares[rows] = _optimal_shares(part)
    return shares.reshape(shape)


def _optimal_shares(groups: Groups) -> FloatArray:
    """Find ln μ, in which the space that the groups take is convex, by Newton's method."""
    sizes, rates, op = groups.sizes, groups.hit_rates, groups.op
    with np.errstate(divide="ignore"):
        log_rates = np.log(rates)
    # OP/s <= √(μ·rate/2): here the groups take too little.
    log_multiplier = np.log(2) + 2 * np.log(op / np.sqrt(sizes * groups.frequencies).sum(-1))
    # OP/s >= ln y − 1, and y > μ·rate: here those that are written take too much.
    written = np.where(rates > 0, sizes, 0.0).sum(-1)
    highest = op / written + 1 - np.where(rates > 0, log_rates, np.inf).min(-1)
    for _ in range(_MOST_STEPS):
        h = 0.5 * log_y(log_multiplier[:, np.newaxis] + log_rates)
        op_of_group, slope = op_at(h)
        # d ln(y − 1 − ln y) / dh = 2 / (2h − op)
        growth = (sizes * slope * (2 * h - op_of_group)).sum(-1) / 2
        step = (op - (sizes * op_of_group).sum(-1)) / growth
        # From where too little is taken, the first step may go much too far.
        next_multiplier = np.minimum(log_multiplier + step, highest)
        change = np.abs(next_multiplier - log_multiplier) / np.maximum(1, np.abs(log_multiplier))
        if change.max(initial=0.0) < _CLOSE_ENOUGH:
            break
        log_multiplier = next_multiplier
    space = np.where(rates > 0, sizes * op_of_group, 0.0)
    shares: FloatArray = space / space.sum(-1, keepdims=True)
    return shares


def log_y(log_value: FloatArray) -> FloatArray:
    """Return u = ln y > 0 at which ln(y − 1 − ln y) = ln(e^u − 1 − u) is `log_value`."""
    value = np.maximum(np.exp(np.minimum(log_value, _LOG_LARGE)), np.finfo(np.float64).tiny)
    # e^u = 1 + value + u, and u = z − z²/6 + … for small z = √(2·value).
    z = np.sqrt(2 * value)
    u: FloatArray = np.log1p(value + z / (1 + z / 6))
    for _ in range(_HALLEY_STEPS):
        slope, gap = _slope_and_gap(u)
        newton = (gap - value) / slope
        u -= newton / (1 - 0.5 * newton * (1 + 1 / slope))
    return np.where(log_value > _LOG_LARGE, log_value, u)


def _slope_and_gap(u: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return e^u − 1, and e^u − 1 − u without loss for small u."""
    slope = np.expm1(u)
    small = np.minimum(u, _SERIES_BELOW)
    series = np.ones_like(u)
    for term in range(_SERIES_TERMS, 2, -1):
        series = 1 + small / term * series
    return slope, np.where(u < _SERIES_BELOW, 0.5 * small * small * series, slope - u)
