"""Weights of candidates: how well each explains the windows of a drive with unknown noise.

The logarithm of WA - 1 + 0.02 is interpolated as a function of ln of spare space by PCHIP (monotone
cubics), and between neighbouring erase units linearly. A window's error has Student's t
distribution, so that a single unexplained window does not decide. The scale of this distribution
combines the table's error at the candidate with the drive's own noise. The likelihood is integrated
over this noise.
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
# Noise scales (relative standard deviations of a window's WA) over which the likelihood is
# integrated. The next line has the spread of their prior, in ln of the noise: if the noise was
# measured, and if it is unknown.
_SCALES = np.geomspace(0.002, 0.3, 21)
_SPREAD_KNOWN, _SPREAD_UNKNOWN = 0.5, 1.0
# Assumed relative noise of a window's WA if the noise was not measured.
USUAL_NOISE = 0.01

# The table's erase units are half an octave apart. Each such step is divided into this number of
# interpolated steps.
_STEPS_OF_UNIT = 4
STEP_OF_LOG2_UNIT = 0.5 / _STEPS_OF_UNIT
_COARSE, _FINE = 0.015, 0.002
# Prior factor of drives that separate pages although their victim policy gains nothing from it.
# Windows hardly show whether these drives separate pages, so the prior must decide.
_FOR_NOTHING = 0.25
# Prior factor of unusual families. A chain cannot distinguish some of them from usual families
# (such as `eti` from `sepgc`), so the prior prefers the usual ones.
_UNUSUAL = 0.25
# Prior factor of drives that need host hints. Plain requests to a real drive carry no hints; only a
# simulated drive can get hints from a workload.
_REQUIRES_HINTS = 0.1
# A combination of variant and erase unit is dropped if its log-likelihood is this far below the
# best.
_FURTHEST = 18.0
_AROUND = 0.045
# Noise scale of the first comparison, at coarse steps of op. It is wide enough that no good
# candidate between two steps is missed.
_COARSE_SCALE = 0.015


@dataclass(frozen=True)
class Points:
    """Candidates, their WA in each window, and the relative error of this WA.

    `log_wa` and `error` have a row for each candidate and a column for each window.
    """

    variant: npt.NDArray[np.int64]
    log2_unit: Floats
    log_op: Floats
    log_wa: Floats
    error: Floats


@dataclass(frozen=True)
class Weighed:
    """Candidates (variant, erase unit, spare space without tied blocks), and their weights.

    `weight` is the posterior probability of each candidate. `scale` is the posterior mean of a
    window's relative noise, and `table_error` the relative error of the table. `best` is the
    log-likelihood of each variant's best candidate, without the prior. `log_wa` is ln of each
    candidate's WA in each window.
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
    """Return the candidates of a table, weighed by the WA of windows.

    Args:
        table: WA of candidates under the same chain.
        wa: WA of each window, NaN if not measured.
        noise: relative standard deviation of a window's WA; None if unknown.

    Raises:
        WriteampError: no candidate has enough spare blocks to serve the chain.
    """
    counted = ~np.isnan(wa)
    observed = np.log(np.maximum(wa[counted], 1e-3))
    table = replace(table, wa=table.wa[..., counted])
    log2_unit, curves = _curves(table, table_error(table))
    prior = prior_of(table)
    best: dict[tuple[int, int], float] = {}
    peaks: dict[tuple[int, int], Floats] = {}
    for row, curve in curves.items():
        x = np.arange(curve.low, curve.high, _COARSE)
        scales = np.hypot(_COARSE_SCALE, curve.error(x))
        likelihood = student_log(observed - curve.log_wa(x), scales).sum(axis=1)
        best[row] = float(likelihood.max())
        peaks[row] = x[likelihood > likelihood.max() - 8]
    if not best:
        raise WriteampError(
            "all candidate drives have too few spare blocks for this workload; give another "
            "workload or a larger drive"
        )
    top = max(best.values())
    rows = [row for row in peaks if best[row] > top - _FURTHEST]
    columns_of_rows = []
    for row in rows:
        curve = curves[row]
        low, high = peaks[row][0] - _AROUND, peaks[row][-1] + _AROUND
        x = np.arange(max(low, curve.low), min(high, curve.high), _FINE)
        place = np.full(x.size, row[0]), np.full(x.size, log2_unit[row[1]]), x
        columns_of_rows.append((*place, curve.log_wa(x), curve.error(x)))
    columns = (np.concatenate(column) for column in zip(*columns_of_rows, strict=True))
    return posterior(Points(*columns), observed, noise, prior)


def posterior(points: Points, observed: Floats, noise: float | None, prior: Floats) -> Weighed:
    """Return candidates with their weights.

    Args:
        points: the candidates and their WA in each window.
        observed: logarithm of WA of each measured window.
        noise: relative standard deviation of a window's WA; None if unknown.
        prior: logarithm of each variant's prior weight.
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
    """WA of a variant as a function of spare space, for one erase unit.

    The erase unit lies between two erase units of the table, `below` and `above`; `share` is the
    weight of `above`.
    """

    below: _Nodes
    above: _Nodes
    share: float
    low: float
    high: float

    def log_wa(self, log_op: Floats) -> Floats:
        shifted = self.below.shifted(log_op)
        if self.share:
            shifted = (1 - self.share) * shifted + self.share * self.above.shifted(log_op)
        log_wa: Floats = np.log(np.maximum(np.exp(shifted) + 1 - SHIFT, 0.5))
        return log_wa

    def error(self, log_op: Floats) -> Floats:
        error = self.below.error(log_op)
        if self.share:
            error = (1 - self.share) * error + self.share * self.above.error(log_op)
        return error


@dataclass(frozen=True)
class _Nodes:
    """Values of the table at each simulated spare space, for one variant and erase unit."""

    log_op: Floats
    shifted: PchipInterpolator
    errors: Floats

    def error(self, log_op: Floats) -> Floats:
        """Return the table's error in each window (columns) for each spare space (rows)."""
        return np.stack(
            [np.interp(log_op, self.log_op, column) for column in self.errors.T], axis=1
        )


def _curves(table: CandidateTable, errors: Floats) -> tuple[Floats, dict[tuple[int, int], _Curve]]:
    """Return log2 of the interpolated erase units, and a curve for each variant and erase unit.

    The keys of the curves are the indices of variant and erase unit.
    """
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
            unit, substep = divmod(step, _STEPS_OF_UNIT)
            below, above = own[unit], own[min(unit + 1, len(units) - 1)] if substep else own[unit]
            if below is None or above is None:
                continue
            ends = [below.log_op, above.log_op]
            low, high = max(x[0] for x in ends), min(x[-1] for x in ends)
            if high > low:
                curves[at, step] = _Curve(below, above, substep / _STEPS_OF_UNIT, low, high)
    return log2_unit, curves


def _nodes(log_op: Floats, wa: Floats, errors: Floats) -> _Nodes | None:
    is_set = ~np.isnan(log_op)
    x, first = np.unique(log_op[is_set], return_index=True)
    if x.size < 2:
        return None
    shifted = np.log(np.maximum(wa[is_set][first] - 1, 0) + SHIFT)
    return _Nodes(x, PchipInterpolator(x, shifted), errors[is_set][first])


def prior_of(table: CandidateTable) -> Floats:
    """Return the logarithm of each variant's prior weight."""
    family_of = np.array(table.family_of)
    share = 1 / np.bincount(family_of)[family_of]
    share[[variant.separates_for_nothing for variant in table.variants]] *= _FOR_NOTHING
    share[[not variant.is_usual for variant in table.variants]] *= _UNUSUAL
    share[[variant.requires_hints for variant in table.variants]] *= _REQUIRES_HINTS
    return np.asarray(np.log(share / share.sum()))


def _of_scales(residuals: Floats, errors: Floats, noise: float | None) -> Floats:
    """Return log-likelihood plus log prior; shape (candidates, noise scales)."""
    spread = _SPREAD_UNKNOWN if noise is None else _SPREAD_KNOWN
    # WA that varies within a window looks like noise, so the measured noise may be too large. The
    # prior gives smaller noise scales the same probability as the measured noise.
    usual = np.clip(_SCALES, _SCALES[0], USUAL_NOISE if noise is None else noise)
    away = np.log(_SCALES / usual) / spread
    # The prior has heavy tails, because a drive that no candidate matches has much larger errors.
    prior = -1.5 * np.log1p(away**2 / 2)
    prior -= logsumexp(prior)
    return np.stack(
        [
            student_log(residuals, np.hypot(scale, errors)).sum(axis=1) + prior[at]
            for at, scale in enumerate(_SCALES)
        ],
        axis=1,
    )


def student_log(residuals: Floats, scale: Floats | float) -> Floats:
    """Return the logarithm of Student's t density, up to a constant."""
    half = (_DEGREES + 1) / 2
    return np.asarray(-half * np.log1p((residuals / scale) ** 2 / _DEGREES) - np.log(scale))
