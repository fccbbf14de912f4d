"""Fit of the drive formula to measurements, from what is known of other drives."""

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
# Units of reading and writing that a drive may have.
PAGES_BYTES = tuple(4096 << power for power in range(6))
# Relative error that the formula is taken to have, against which costs may leave what is likely.
_ERROR = 0.1
# Errors above it count in proportion: no drive follows the formula everywhere.
_FAR = 0.2
_ROUGH_STEPS, _STEPS = 12, 60
# So many of the roughly fitted formulas are fitted further.
_REFINED = 4
# Formulas of less weight are left out.
_LEAST_WEIGHT = 0.02


def fitted_formulas(
    features: F64,
    names: Sequence[str],
    log_times: F64,
    profiles: Mapping[str, DriveFormula],
) -> list[tuple[float, str, DriveFormula]]:
    """Return formulas that explain what was measured, with weights whose sum is 1.

    The search begins at each profile's costs, and at ordinary ones for each size of page; costs are
    held near where they began as far as the data do not speak. Weights are the formulas'
    likelihoods.

    Args:
        features: rows of a feature vector; shape (rows, features).
        names: of the features, `NEEDS` among them.
        log_times: logarithms of the µs between two answers; shape (rows,).
        profiles: formulas of other drives by name.
    """
    starts = [("", page, merges, LIKELY) for page in PAGES_BYTES for merges in (True, False)]
    starts += [
        (name, one.page_bytes, one.merges, np.array(one.logs)) for name, one in profiles.items()
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
            found: F64 = np.r_[log_time(logs, work) - log_times, apart]
            return found

        found = least_squares(errors, begin, loss="soft_l1", f_scale=_FAR, max_nfev=steps)
        return float(found.cost), found.x

    rough = [(*search(one, one[3], _ROUGH_STEPS), one) for one in starts]
    rough.sort(key=lambda one: one[0])
    best = [(*search(one, logs, _STEPS), one) for _, logs, one in rough[:_REFINED]]
    costs = np.array([one[0] for one in best])
    weights = _weights(costs, len(log_times))
    found = [
        (float(weight), name, DriveFormula(page, merges, tuple(map(float, logs))))
        for weight, (_, logs, (name, page, merges, _)) in zip(weights, best, strict=True)
        if weight >= _LEAST_WEIGHT
    ]
    whole = sum(weight for weight, _, _ in found)
    return [(weight / whole, name, formula) for weight, name, formula in found]


def formula_of_rows(rows: pl.DataFrame) -> DriveFormula:
    """Return the formula that explains a table of measurements best, from ordinary costs.

    Args:
        rows: with a column for each of `NEEDS`, and `throughput_iops`.
    """
    features = EXTENDED.of(rows).to_numpy()
    log_times = np.log(_US_PER_S / rows["throughput_iops"].to_numpy())
    found = fitted_formulas(features, EXTENDED.names, log_times, {})
    return max(found, key=lambda one: one[0])[2]


def _weights(costs: F64, rows: int) -> F64:
    """Return likelihoods over their sum; the variance of the errors is the best fit's."""
    variance = max(2 * costs.min() / max(rows - len(COSTS), 1), 1e-8)
    likelihoods = np.exp(-(costs - costs.min()) / variance)
    found: F64 = likelihoods / likelihoods.sum()
    return found
