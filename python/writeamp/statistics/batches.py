"""Batch means: equal chunks of a run, in which drift and trends are sought."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

_Floats: TypeAlias = npt.NDArray[np.float64]

CONFIDENCE = 0.95

MAX_BATCHES = 30
MIN_BATCHES = 10
# One-sided 5% point of the normal distribution. Batches are merged if their lag-1 correlation is
# significantly larger than 0.
CORRELATION_Z = 1.645
# Correlation that remains between batches makes changes less significant; it is limited to this.
MAX_CORRELATION = 0.9


@dataclass(frozen=True)
class Batches:
    """Batch means of WA, the share of the host pages in each batch, and the mean over all."""

    wa: _Floats
    weight: _Floats
    mean: float

    def correlation(self, deviation: _Floats) -> float:
        """Return the lag-1 autocorrelation of deviations, corrected for the bias of few batches.

        It is limited to 0 … `MAX_CORRELATION`.
        """
        raw = lag1_correlation(deviation)
        return min(max(0.0, raw + (2 + 4 * raw) / self.wa.size), MAX_CORRELATION)

    def own_correlation(self) -> float:
        """Return the lag-1 autocorrelation of the batch means, corrected for its bias."""
        return lag1_correlation(self.wa - self.mean) + 1 / self.wa.size

    def are_correlated(self) -> bool:
        """Return whether neighbouring batch means have a significant positive correlation."""
        return self.own_correlation() >= CORRELATION_Z / math.sqrt(self.wa.size)


def divided(host: _Floats, flash: _Floats, count: int) -> Batches:
    """Divide the intervals into `count` batches, which differ by at most one interval."""
    # Weights by host pages keep the mean exact for batches of unequal length.
    starts = np.rint(np.linspace(0, host.size, count + 1)).astype(np.intp)[:-1]
    pages = np.add.reduceat(host, starts)
    total = float(pages.sum())
    mean = float(flash.sum()) / total
    return Batches(np.add.reduceat(flash, starts) / pages, pages / total, mean)


def uncorrelated(host: _Floats, flash: _Floats) -> Batches:
    """Divide the intervals into 30 batches, or into fewer until they are uncorrelated.

    Each try has a fifth fewer batches. If even 10 batches are correlated, returns these 10. There
    are never more batches than intervals.
    """
    count, fewest = min(MAX_BATCHES, host.size), min(MIN_BATCHES, host.size)
    while True:
        batches = divided(host, flash, count)
        if count == fewest or not batches.are_correlated():
            return batches
        count = max(fewest, int(count * 0.8))


def lag1_correlation(deviation: _Floats) -> float:
    """Return the lag-1 autocorrelation of deviations from their mean; 0 if all are 0."""
    square = float(deviation @ deviation)
    return float(deviation[1:] @ deviation[:-1]) / square if square > 0 else 0.0
