"""Drift: write amplification that still changes after the warm-up."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr  # type: ignore[import-untyped]

from writeamp.statistics.batches import MAX_BATCHES, Batches, divided

_Floats: TypeAlias = npt.NDArray[np.float64]

# Significance level of each of two tests, for a line and a step. Together they report a false drift
# in 5% of steady runs.
DRIFT_LEVEL = 0.05 / 2
# Changes of WA below this share of the mean are not drift, even if statistically significant.
MATERIAL_CHANGE = 0.001

# A trend is fitted to the run after this share of it, or after the warm-up if that is longer.
TREND_FROM = 1 / 8


@dataclass(frozen=True)
class Trend:
    """Change of write amplification per doubling of the run, and its standard error.

    A drive settles at many time scales: rarely written pages take longer to settle. Its WA
    therefore changes by about the same amount in each doubling of the run.
    """

    per_doubling: float
    error: float


def trend(host: _Floats, flash: _Floats, warmup_pages: float) -> Trend:
    """Fit WA by a straight line over the logarithm of time.

    Args:
        host: host pages written in each interval since the fill, shape (n,).
        flash: flash pages programmed in each interval, shape (n,).
        warmup_pages: host pages at the start that are excluded; at least an eighth of the run is.
    """
    ends = np.cumsum(host)
    start = max(warmup_pages, TREND_FROM * ends[-1])
    first = int(np.searchsorted(ends, start, side="right"))
    first = min(first, host.size - 3)
    batches = divided(host[first:], flash[first:], min(MAX_BATCHES, host.size - first))
    bounds = ends[-1] - host[first:].sum() * (1 - np.append(0.0, np.cumsum(batches.weight)))
    doublings = _mean_log2(bounds / ends[-1])
    doublings -= doublings.mean()
    squares = float(doublings @ doublings)
    slope = float(doublings @ batches.wa) / squares
    residual = batches.wa - batches.wa.mean() - slope * doublings
    return Trend(slope, math.sqrt(_noise(batches, residual) / squares))


def common_trend(trends: Sequence[Trend]) -> Trend:
    """Return the mean of the trends of several runs.

    The standard error of the mean is estimated from the scatter within runs and from the scatter
    between runs; the larger estimate counts.
    """
    slopes = np.array([each.per_doubling for each in trends])
    count = slopes.size
    within = math.sqrt(sum(each.error**2 for each in trends)) / count
    between = float(slopes.std(ddof=1)) / math.sqrt(count) if count > 1 else 0.0
    return Trend(float(slopes.mean()), max(within, between))


def _mean_log2(bounds: _Floats) -> _Floats:
    """Return the mean of log2 t over each interval between neighbouring bounds of t."""
    positive = np.maximum(bounds, np.finfo(float).tiny)
    integral = positive * (np.log2(positive) - 1 / math.log(2))
    means: _Floats = np.diff(integral) / np.diff(positive)
    return means


def drift_within(batches: Batches) -> str | None:
    """Return a sentence on drift, or None.

    There is drift if a trend or step of the batch means is significant, and at least
    `MATERIAL_CHANGE` of WA.
    """
    return _line_drift(batches) or _step_drift(batches)


def _line_drift(batches: Batches) -> str | None:
    count = batches.wa.size
    time = np.arange(count) - (count - 1) / 2
    slope = float(time @ batches.wa) / float(time @ time)
    change = slope * (count - 1)
    residual = batches.wa - batches.wa.mean() - slope * time
    chance = _chance(batches, residual, slope**2 * float(time @ time))
    if chance >= DRIFT_LEVEL or abs(change) < MATERIAL_CHANGE * batches.mean:
        return None
    verb = "rises" if change > 0 else "falls"
    return f"drifting: write amplification still {verb} by {abs(change):.3g} after the warm-up"


def _step_drift(batches: Batches) -> str | None:
    wa, count = batches.wa, batches.wa.size
    size = np.arange(1, count)
    sums = np.cumsum(wa)
    left, right = sums[:-1] / size, (sums[-1] - sums[:-1]) / (count - size)
    explained = (right - left) ** 2 * size * (count - size) / count
    place = int(np.argmax(explained))
    residual = wa - np.where(np.arange(count) <= place, left[place], right[place])
    # Bonferroni correction, because the best of count − 1 places was chosen.
    chance = (count - 1) * _chance(batches, residual, float(explained[place]))
    change = float(right[place] - left[place])
    if chance >= DRIFT_LEVEL or abs(change) < MATERIAL_CHANGE * batches.mean:
        return None
    share = 100 * (place + 1) / count
    return (
        f"drifting: write amplification steps from {left[place]:.4g} to {right[place]:.4g} "
        f"at {share:.0f}% of the run after the warm-up"
    )


def _chance(batches: Batches, residual: _Floats, explained: float) -> float:
    """Return the two-sided p-value of a fitted parameter from the sum of squares it explains."""
    noise = _noise(batches, residual)
    if noise == 0.0:
        return 0.0 if explained > 0.0 else 1.0
    return 2 * float(stdtr(residual.size - 2, -math.sqrt(explained / noise)))


def _noise(batches: Batches, residual: _Floats) -> float:
    """Return the variance of the residuals of a two-parameter fit, corrected for correlation."""
    correlation = batches.correlation(residual)
    return float(residual @ residual) / (residual.size - 2) * (1 + correlation) / (1 - correlation)
