"""Weights of candidates: how well each explains the windows of a drive, noise unknown.

Logarithms of WA - 1 + 0.02 are interpolated (PCHIP) over the logarithm of spare space, and between
neighbouring erase units on a line. A window's error is Student's t, so that one window that no
candidate explains does not decide. Its scale is that of the table at this very candidate, and that
of the drive's own noise, which is integrated over.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.interpolate import PchipInterpolator  # type: ignore[import-untyped]
from scipy.special import logsumexp  # type: ignore[import-untyped]

from writeamp.errors import WriteampError
from writeamp.learn.twin.table import SHIFT, CandidateTable, table_error

Floats = npt.NDArray[np.float64]

_DEGREES = 4
# Scales of a window's noise that are weighed, and how far they may lie from what is expected.
_SCALES = np.geomspace(0.002, 0.3, 21)
_SPREAD_KNOWN, _SPREAD_UNKNOWN = 0.5, 1.0
# What a window's noise is taken for where nothing tells it.
USUAL_NOISE = 0.01

# Erase units between two of the table, which are half an octave apart.
_STEPS_OF_UNIT = 4
STEP_OF_LOG2_UNIT = 0.5 / _STEPS_OF_UNIT
_COARSE, _FINE = 0.015, 0.002
# Windows hardly tell whether pages lie apart where no victim is chosen by it. A drive that goes to
# that length for nothing is taken for so much less likely than one that does not.
_FOR_NOTHING = 0.25
# Drives of few streams and of the usual ways to fill them are more common than those of others, of
# which some (`eti` beside `sepgc`) show nothing of it in a chain.
_UNUSUAL = 0.25
# A real drive that is written to by requests alone hears nothing of what it is to store; only a
# simulated one that takes a workload's hints does.
_HEARS_HINTS = 0.1
# Rows of the table (a variant and an erase unit) further below the best have no weight.
_FURTHEST = 18.0
_AROUND = 0.045
# Scale at which rows are first compared: between two coarse steps nothing is lost.
_COARSE_SCALE = 0.015


@dataclass(frozen=True)
class Points:
    """Candidates, what each says of the windows, and the relative error of that.

    `log_wa` and `error` have a row for each candidate and a column for each window.
    """

    variant: npt.NDArray[np.int64]
    log2_unit: Floats
    log_op: Floats
    log_wa: Floats
    error: Floats


@dataclass(frozen=True)
class Weighed:
    """Candidates with their weight: variant, erase unit and spare space without tied blocks.

    `scale` is the posterior mean of the relative scale of a window's noise, `table_error` what the
    table is off by, `best` the logarithm of the likelihood of each variant's best candidate,
    `log_wa` what each candidate says of the windows.
    """

    variant: npt.NDArray[np.int64]
    log2_unit: Floats
    log_op: Floats
    log_wa: Floats
    weight: Floats
    best: Floats
    scale: float
    table_error: float


def weigh(table: CandidateTable, wa: Floats, noise: float | None) -> Weighed:
    """Return the candidates of a table that explain the WA of windows.

    Args:
        table: candidates of the same chain.
        wa: WA of each window, NaN where nobody counted.
        noise: relative standard deviation of a window, if anything tells it.

    Raises:
        WriteampError: no candidate can serve the chain.
    """
    told = ~np.isnan(wa)
    observed = np.log(np.maximum(wa[told], 1e-3))
    table = replace(table, wa=table.wa[..., told])
    log2_unit, curves = _curves(table, table_error(table))
    prior = prior_of(table)
    best: dict[tuple[int, int], float] = {}
    peaks: dict[tuple[int, int], Floats] = {}
    for row, curve in curves.items():
        x = np.arange(curve.low, curve.high, _COARSE)
        scales = np.hypot(_COARSE_SCALE, curve.error(x))
        found = _t_log(observed - curve.log_wa(x), scales).sum(axis=1)
        best[row] = float(found.max())
        peaks[row] = x[found > found.max() - 8]
    if not best:
        raise WriteampError("no simulated drive can serve this load")
    top = max(best.values())
    rows = [row for row in peaks if best[row] > top - _FURTHEST]
    parts = []
    for row in rows:
        curve = curves[row]
        low, high = peaks[row][0] - _AROUND, peaks[row][-1] + _AROUND
        x = np.arange(max(low, curve.low), min(high, curve.high), _FINE)
        place = np.full(x.size, row[0]), np.full(x.size, log2_unit[row[1]]), x
        parts.append((*place, curve.log_wa(x), curve.error(x)))
    columns = (np.concatenate(column) for column in zip(*parts, strict=True))
    return posterior(Points(*columns), observed, noise, prior)


def posterior(points: Points, observed: Floats, noise: float | None, prior: Floats) -> Weighed:
    """Return candidates with their weight.

    Args:
        points: what each candidate says of the windows.
        observed: logarithm of WA of each window that was counted.
        noise: relative standard deviation of a window, if anything tells it.
        prior: logarithm of what each variant weighs before anything is known.
    """
    likelihood = _of_scales(observed - points.log_wa, points.error, noise)
    joint = likelihood + prior[points.variant][:, None]
    total = logsumexp(joint)
    weight = np.exp(logsumexp(joint, axis=1) - total)
    of_scale = np.exp(logsumexp(joint, axis=0) - total)
    of_variant = np.full(prior.size, -math.inf)
    np.maximum.at(of_variant, points.variant, logsumexp(likelihood, axis=1))
    scale = float(np.exp(of_scale @ np.log(_SCALES)))
    of_table = math.sqrt(float(weight @ np.mean(points.error**2, axis=1)))
    return Weighed(
        points.variant,
        points.log2_unit,
        points.log_op,
        points.log_wa,
        weight,
        of_variant,
        scale,
        of_table,
    )


@dataclass(frozen=True)
class _Curve:
    """WA over spare space of one variant and erase unit, between those of two of the table."""

    below: _Nodes
    above: _Nodes
    share: float
    low: float
    high: float

    def log_wa(self, log_op: Floats) -> Floats:
        found = self.below.shifted(log_op)
        if self.share:
            found = (1 - self.share) * found + self.share * self.above.shifted(log_op)
        log_wa: Floats = np.log(np.maximum(np.exp(found) + 1 - SHIFT, 0.5))
        return log_wa

    def error(self, log_op: Floats) -> Floats:
        found = self.below.error(log_op)
        if self.share:
            found = (1 - self.share) * found + self.share * self.above.error(log_op)
        return found


@dataclass(frozen=True)
class _Nodes:
    """Nodes over spare space of one variant and erase unit of the table."""

    log_op: Floats
    shifted: PchipInterpolator
    errors: Floats

    def error(self, log_op: Floats) -> Floats:
        """Return the error of each window, a row for each spare space."""
        return np.stack([np.interp(log_op, self.log_op, one) for one in self.errors.T], axis=1)


def _curves(table: CandidateTable, errors: Floats) -> tuple[Floats, dict[tuple[int, int], _Curve]]:
    """Return the logarithms of the erase units, and the curve of each variant at each of them."""
    units = np.log2(table.unit_pages)
    steps = (len(units) - 1) * _STEPS_OF_UNIT + 1
    curves: dict[tuple[int, int], _Curve] = {}
    log2_unit = np.interp(np.arange(steps) / _STEPS_OF_UNIT, np.arange(len(units)), units)
    for at in range(len(table.variants)):
        own = [
            _nodes(table.log_op[at, unit], table.wa[at, unit], errors[at, unit])
            for unit in range(len(units))
        ]
        for step in range(steps):
            unit, part = divmod(step, _STEPS_OF_UNIT)
            below, above = own[unit], own[min(unit + 1, len(units) - 1)] if part else own[unit]
            if below is None or above is None:
                continue
            ends = [below.log_op, above.log_op]
            low, high = max(x[0] for x in ends), min(x[-1] for x in ends)
            if high > low:
                curves[at, step] = _Curve(below, above, part / _STEPS_OF_UNIT, low, high)
    return log2_unit, curves


def _nodes(log_op: Floats, wa: Floats, errors: Floats) -> _Nodes | None:
    known = ~np.isnan(log_op)
    x, first = np.unique(log_op[known], return_index=True)
    if x.size < 2:
        return None
    shifted = np.log(np.maximum(wa[known][first] - 1, 0) + SHIFT)
    return _Nodes(x, PchipInterpolator(x, shifted), errors[known][first])


def prior_of(table: CandidateTable) -> Floats:
    """Return the logarithm of what each variant weighs before anything is known of the drive."""
    family_of = np.array(table.family_of)
    share = 1 / np.bincount(family_of)[family_of]
    share[[one.separates_for_nothing for one in table.variants]] *= _FOR_NOTHING
    share[[not one.is_usual for one in table.variants]] *= _UNUSUAL
    share[[one.hears_hints for one in table.variants]] *= _HEARS_HINTS
    return np.asarray(np.log(share / share.sum()))


def _of_scales(residuals: Floats, errors: Floats, noise: float | None) -> Floats:
    """Return the logarithm of the likelihood at each scale of noise, times the prior of that."""
    spread = _SPREAD_UNKNOWN if noise is None else _SPREAD_KNOWN
    # A drive that swings within a window looks noisy, so less is as likely as what is expected.
    usual = np.clip(_SCALES, _SCALES[0], USUAL_NOISE if noise is None else noise)
    away = np.log(_SCALES / usual) / spread
    # Heavy tails: a drive that no candidate is has errors of quite another scale.
    prior = -1.5 * np.log1p(away**2 / 2)
    prior -= logsumexp(prior)
    return np.stack(
        [
            _t_log(residuals, np.hypot(scale, errors)).sum(axis=1) + prior[at]
            for at, scale in enumerate(_SCALES)
        ],
        axis=1,
    )


def _t_log(residuals: Floats, scale: Floats) -> Floats:
    """Return the logarithm of Student's density, but for a constant."""
    half = (_DEGREES + 1) / 2
    return np.asarray(-half * np.log1p((residuals / scale) ** 2 / _DEGREES) - np.log(scale))
