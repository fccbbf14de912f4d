"""Refinement of weights: the likely candidates are simulated instead of interpolated.

If WA oscillates over spare space, as with FIFO, interpolation in the table has errors of several
percent. So each likely variant is simulated at random erase units and spare spaces. The difference
from the table is fitted by least squares, as a smooth function of erase unit and spare space. The
scatter around this function is random variation between runs, which the measured drive has, too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from writeamp.learn.twin.families import Variant
from writeamp.learn.twin.likelihood import Floats, Points, Weighed, posterior, prior_of
from writeamp.learn.twin.serving import Measured, Served, simulated_windows, sized
from writeamp.learn.twin.table import CandidateTable
from writeamp.runners import Progress

# Only the best variants are refined: those whose log-likelihood plus log prior is within the first
# value of the best one, and at most the second number of them.
_FURTHEST = 6.0
_MOST_VARIANTS = 8
# Number of simulated runs per variant, and how many must succeed for a fit.
_RUNS, _FEWEST_RUNS = 24, 10
# Candidates are drawn with their weights raised to this power, so that less likely ones are drawn,
# too.
_TEMPER = 0.5
# Spare space and erase unit are divided by the standard deviation of a variant's runs, but at least
# by these values: in ln of op, and in log2 of the erase unit.
_LEAST_SPREADS = (0.01, 0.25)
# Candidates further than this many standard deviations from the runs' mean are left out.
_REACH = 3.5
# Ridge penalty of each term: none for the mean, little for linear terms.
_RIDGE = np.diag([0.0, 0.3, 0.3, 1.0, 1.0, 1.0])
# Least assumed random variation of a window's WA between runs, as a share of the WA.
_LEAST_LUCK = 0.0007
# Random variation at an erase unit is estimated from runs with erase units within about this many
# octaves. Its variance is at least the second value times the overall variance.
_OCTAVES_OF_LUCK = 0.7
_LEAST_SHARE = 0.1


def refined(
    table: CandidateTable, weighed: Weighed, windows: Measured, progress: Progress | None = None
) -> Weighed:
    """Simulate the likely candidates, and return them with weights from these simulations.

    The whole takes one second for most drives, and a few seconds if many variants are likely. The
    same windows always give the same weights.

    Args:
        table: the table from which the first weights were computed.
        weighed: candidates with the first weights.
        windows: measured windows of the drive.
        progress: called with the number of finished runs, and of all.
    """
    counted = ~np.isnan(windows.wa)
    observed = np.log(np.maximum(windows.wa[counted], 1e-3))
    prior = prior_of(table)
    drives = _Drives(windows.served.usual, windows.served.grid.logical_pages, counted)
    likely = _likely(weighed.best + prior)
    corrected = []
    for number, at in enumerate(likely, start=1):
        own = np.flatnonzero(weighed.variant == at)
        corrected.append(_corrected(drives, table.variants[at], weighed, own))
        if progress:
            progress(number * _RUNS, len(likely) * _RUNS)
    columns = [
        columns_of_variant for columns_of_variant in corrected if columns_of_variant is not None
    ]
    if not columns:  # too few runs succeed on a drive of this size, so the table's weights remain
        return weighed
    points = Points(*(np.concatenate(column) for column in zip(*columns, strict=True)))
    return posterior(points, observed, windows.noise, prior)


@dataclass(frozen=True)
class _Drives:
    """Simulation of the writes on drives of one size; `counted` masks the measured windows."""

    served: Served
    logical_pages: int
    counted: np.ndarray

    def log_wa(
        self, variant: Variant, unit_pages: int, log_op: float, *, seed: int
    ) -> Floats | None:
        """Return ln of a drive's WA in each window; None if it has too few spare blocks to run."""
        blocks, pages = sized(variant, unit_pages, math.exp(log_op), self.logical_pages)
        wa = simulated_windows(self.served, variant, unit_pages, blocks, pages, seed=seed)
        return None if wa is None else np.log(wa[self.counted])


def _likely(value: Floats) -> list[int]:
    """Return the likely variants, the best first."""
    order = [int(at) for at in np.argsort(-value, kind="stable") if np.isfinite(value[at])]
    return [at for at in order if value[at] > value[order[0]] - _FURTHEST][:_MOST_VARIANTS]


def _corrected(
    drives: _Drives, variant: Variant, weighed: Weighed, own: np.ndarray
) -> tuple[np.ndarray, ...] | None:
    """Return the candidates of a variant, corrected by simulated runs; None with too few runs."""
    drawn, off = [], []
    for seed, at in enumerate(_draws(weighed.weight[own]), start=1):
        unit = max(2, round(float(np.exp2(weighed.log2_unit[own[at]]))))
        log_wa_of_run = drives.log_wa(variant, unit, float(weighed.log_op[own[at]]), seed=seed)
        if log_wa_of_run is not None:
            drawn.append(at)
            off.append(log_wa_of_run - weighed.log_wa[own[at]])
    if len(drawn) < _FEWEST_RUNS:
        return None
    terms, reached = _terms(weighed.log_op[own], weighed.log2_unit[own], np.array(drawn))
    of_runs = terms[drawn]
    inverse = np.linalg.inv(of_runs.T @ of_runs + _RIDGE)
    factors = inverse @ of_runs.T @ np.array(off)
    freedom = len(drawn) - float(np.einsum("ij,jk,ik->", of_runs, inverse, of_runs))
    left = np.array(off) - of_runs @ factors
    luck = np.hypot(np.sqrt(np.sum(left**2, axis=0) / freedom), _LEAST_LUCK)
    units = weighed.log2_unit[own]
    luck = luck * _luck_of_units(units, units[drawn], left / luck)[:, None]
    leverage = np.einsum("ij,jk,ik->i", terms, inverse, terms)
    errors = np.sqrt(1 + leverage)[:, None] * luck
    log_wa = weighed.log_wa[own] + terms @ factors
    places = weighed.variant[own], weighed.log2_unit[own], weighed.log_op[own]
    return tuple(column[reached] for column in (*places, log_wa, errors))


def _luck_of_units(log2_unit: Floats, of_runs: Floats, left: Floats) -> Floats:
    """Return the random variation at each erase unit, as a factor of the overall variation.

    Drives of few large blocks vary more.
    """
    near = np.exp(-(((log2_unit[:, None] - of_runs) / _OCTAVES_OF_LUCK) ** 2) / 2)
    squares = near @ np.mean(left**2, axis=1) / np.maximum(near.sum(axis=1), 1e-9)
    return np.asarray(np.sqrt(np.maximum(squares, _LEAST_SHARE)))


def _draws(weight: Floats) -> list[int]:
    """Return the indices of candidates to simulate, at even quantiles of the flattened weights."""
    flat = np.maximum(weight / max(weight.max(), 1e-300), 1e-12) ** _TEMPER
    at = (np.arange(_RUNS) + 0.5) / _RUNS
    return [int(index) for index in np.searchsorted(np.cumsum(flat) / flat.sum(), at)]


def _terms(log_op: Floats, log2_unit: Floats, drawn: np.ndarray) -> tuple[Floats, np.ndarray]:
    """Return the terms of a quadratic, and a mask of the candidates within reach of the runs."""
    scaled = []
    for values, least in zip((log_op, log2_unit), _LEAST_SPREADS, strict=True):
        of_runs = values[drawn]
        scaled.append((values - of_runs.mean()) / max(float(of_runs.std()), least))
    op, unit = scaled
    terms = np.stack([np.ones_like(op), op, unit, op**2, unit**2, op * unit], axis=1)
    return terms, (np.abs(op) < _REACH) & (np.abs(unit) < _REACH)
