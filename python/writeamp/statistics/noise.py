"""Noise of the WA of a run, from the slow fluctuations of its intervals.

Noise of neighbouring intervals is correlated. The correlation is positive if WA drifts to and fro.
It is negative if an interval has a collection more and the next one less. Negatively correlated
noise cancels in the mean, but batch means contain it, so their intervals are too wide. Here, the
noise is measured with cosines of at most `COSINES` half periods in the run: slow changes only.

Lazarus, Lewis, Stock and Watson, "HAR inference: recommendations for practice", Journal of Business
& Economic Statistics 36 (4), 2018: equal-weighted cosines with Student's t. Andrews and Monahan,
Econometrica 60 (4), 1992: prewhitening.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit  # type: ignore[import-untyped]

from writeamp.statistics.batches import CONFIDENCE, CORRELATION_Z, lag1_correlation

_Floats: TypeAlias = npt.NDArray[np.float64]

# More cosines narrow Student's t, but let fast noise and correlation of several intervals in.
COSINES = 10
# An interval is for the WA of a run longer by this factor. It includes the noise of that run.
TIMES_LONGER = 10
# A larger estimate of the correlation would multiply the variance by more than a thousand.
MAX_CORRELATION = 0.97


def half_width_of_wa(host: _Floats, flash: _Floats) -> float:
    """Return the half width of the confidence interval for WA of a run `TIMES_LONGER` as long.

    Args:
        host: host pages written in each interval, shape (n,), n ≥ 3.
        flash: flash pages programmed in each interval, shape (n,).
    """
    count, pages = host.size, float(host.sum())
    deviation = flash - float(flash.sum()) / pages * host
    correlation = _positive_correlation(deviation)
    if correlation:
        deviation = deviation[1:] - correlation * deviation[:-1]
    powers = _slow_powers(deviation)
    variance = count * float(powers.mean()) / (1 - correlation) ** 2 * (1 + 1 / TIMES_LONGER)
    # Relative variance of this estimate: of a mean of squares, and of 1/(1 − correlation)².
    uncertainty = 2 / powers.size
    uncertainty += 4 * (1 + correlation) / (count * (1 - correlation)) if correlation else 0.0
    freedom = max(2.0, 2 / uncertainty)
    return float(stdtrit(freedom, (1 + CONFIDENCE) / 2)) * math.sqrt(variance) / pages


def _positive_correlation(deviation: _Floats) -> float:
    """Return the correlation of neighbouring intervals; 0 unless significantly positive."""
    raw, count = lag1_correlation(deviation), deviation.size
    if raw <= CORRELATION_Z / math.sqrt(count):
        return 0.0
    return min(raw + (1 + 4 * raw) / count, MAX_CORRELATION)  # corrected for its bias


def _slow_powers(deviation: _Floats) -> _Floats:
    """Return squared projections on orthonormal cosines of 1, 2, … half periods.

    If there are few intervals, the mean of these squares is their sample variance.
    """
    count = deviation.size
    half_periods = np.arange(1, min(COSINES, count - 1) + 1)[:, None]
    cosines = np.cos(np.pi * half_periods * (np.arange(count) + 0.5) / count)
    powers: _Floats = (cosines @ deviation) ** 2 * (2 / count)
    return powers
