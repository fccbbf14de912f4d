"""Fit of the drive formula to measurements, starting from other drives' costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.optimize import least_squares  # type: ignore[import-untyped]

from writeamp.learn.blackbox.features.feature_sets import EXTENDED
from writeamp.learn.blackbox.formulas.drive_formula import (
    COSTS,
    DEVIATIONS,
    LIKELY,
    DriveFormula,
    Work,
    log_time,
)

F64 = npt.NDArray[np.float64]

_US_PER_S = 1e6
# Page sizes that a drive may have, in bytes.
PAGES_BYTES = tuple(4096 << power for power in range(6))
# Assumed relative error of the formula. It sets how strongly measurements outweigh the prior on
# the costs.
_ERROR = 0.1
# Larger errors of the logarithm count linearly instead of squared, since no drive follows the
# formula everywhere.
_FAR = 0.2
_ROUGH_STEPS, _STEPS = 12, 60
# Number of formulas that get more steps after the rough fit.
_REFINED = 4
# Formulas with less weight than this are dropped.
_LEAST_WEIGHT = 0.02


def fitted_formulas(
    features: F64,
    names: Sequence[str],
    log_times: F64,
    profiles: Mapping[str, DriveFormula],
) -> list[tuple[float, str, DriveFormula]]:
    """Return formulas that explain the measurements, with weights whose sum is 1.

    The search begins at the costs of each profile, and at default costs for each page size. A
    penalty keeps costs near their start if the measurements do not determine them. Weights are
    proportional to the formulas' likelihoods; unlikely formulas are left out.

    Args:
        features: rows of a feature vector; shape (rows, features).
        names: names of the features, including `NEEDS`.
        log_times: logarithms of the time between two completed requests, in µs; shape (rows,).
        profiles: formulas of other drives by name.
    """
    starts = [("", page, merges, LIKELY) for page in PAGES_BYTES for merges in (True, False)]
    starts += [
        (name, profile.page_bytes, profile.merges, np.array(profile.logs))
        for name, profile in profiles.items()
    ]
    works = {
        (page, merges): Work.of(features, names, page, merges=merges)
        for _, page, merges, _ in starts
    }

    def search(start: tuple[str, int, bool, F64], begin: F64, steps: int) -> tuple[float, F64]:
        _, page, merges, centre = start
        work = works[page, merges]

        def errors(logs: F64) -> F64:
            apart = _ERROR * (logs - centre) / DEVIATIONS
            residuals: F64 = np.r_[log_time(logs, work) - log_times, apart]
            return residuals

        solution = least_squares(errors, begin, loss="soft_l1", f_scale=_FAR, max_nfev=steps)
        return float(solution.cost), solution.x

    rough = [(*search(profile, profile[3], _ROUGH_STEPS), profile) for profile in starts]
    rough.sort(key=lambda profile: profile[0])
    best = [(*search(profile, logs, _STEPS), profile) for _, logs, profile in rough[:_REFINED]]
    costs = np.array([profile[0] for profile in best])
    weights = _weights(costs, len(log_times))
    formulas = [
        (float(weight), name, DriveFormula(page, merges, tuple(map(float, logs))))
        for weight, (_, logs, (name, page, merges, _)) in zip(weights, best, strict=True)
        if weight >= _LEAST_WEIGHT
    ]
    whole = sum(weight for weight, _, _ in formulas)
    return [(weight / whole, name, formula) for weight, name, formula in formulas]


def formula_of_rows(rows: pl.DataFrame) -> DriveFormula:
    """Return the formula that explains a table of measurements best; the fit has default starts.

    Args:
        rows: measurements with a column for each of `NEEDS`, and `throughput_iops`.
    """
    features = EXTENDED.of(rows).to_numpy()
    log_times = np.log(_US_PER_S / rows["throughput_iops"].to_numpy())
    formulas = fitted_formulas(features, EXTENDED.names, log_times, {})
    return max(formulas, key=lambda formula: formula[0])[2]


def _weights(costs: F64, rows: int) -> F64:
    """Return likelihoods with the sum 1; the error variance is estimated from the best fit."""
    variance = max(2 * costs.min() / max(rows - len(COSTS), 1), 1e-8)
    likelihoods = np.exp(-(costs - costs.min()) / variance)
    weights: F64 = likelihoods / likelihoods.sum()
    return weights
