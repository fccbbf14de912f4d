"""Steady state of a looped trace: a pass is the natural batch (docs/steady-state.md).

Within a pass WA follows the trace's own phases, which says nothing of warm-up; from pass to pass
the host does exactly the same, so what changes is the drive settling.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit  # type: ignore[import-untyped]

from writeamp.statistics.batches import CONFIDENCE
from writeamp.statistics.drift import trend
from writeamp.statistics.judging import with_trend
from writeamp.statistics.steady import MIN_INTERVALS, SteadyState, analyse

# Passes whose WA still moves by more than this share belong to the warm-up or to a drift.
MATERIAL_CHANGE = 0.01

# A trace is steady pass by pass from this many passes on; below, interval by interval.
FEWEST_PASSES = 3
# So many are a series as any other is, with a noise of its own.
_MANY_PASSES = 2 * MIN_INTERVALS
# Of fewer no trend is known with an error.
_FEWEST_OF_TREND = 3


def analyse_passes(pass_pages: int, flash_pages: npt.ArrayLike) -> SteadyState:
    """Cut the passes in which the drive still settles; the rest are batches.

    Many passes are a series of intervals. Of few, the warm-up is the shortest run of first passes
    after which every pass lies within `MATERIAL_CHANGE` of the mean of those that remain; at most
    half of the passes are cut.

    Args:
        pass_pages: host pages written in a pass.
        flash_pages: flash pages programmed in each pass, shape (n,), n ≥ 3.

    Returns:
        WA over the remaining passes, with Student's t interval over them, which holds each of
        them and reaches to where a trend may lead.
    """
    flash = np.asarray(flash_pages, np.float64)
    host = np.full(flash.size, float(pass_pages))
    if flash.size >= _MANY_PASSES:
        found = analyse(host, flash)
        return with_trend(found, trend(host, flash, float(found.warmup_pages)))
    wa = flash / pass_pages
    most = wa.size // 2
    cuts = range(1, most + 1)
    settled = [one for one in cuts if _settled(wa[one:])]
    cut = settled[0] if settled else cuts[-1]
    kept = wa[cut:]
    scatter = float(kept.std(ddof=1)) / math.sqrt(kept.size)
    half_width = float(stdtrit(kept.size - 1, (1 + CONFIDENCE) / 2)) * scatter
    mean = float(kept.mean())
    reason = (
        f"the last {kept.size} of {wa.size} passes lie within {MATERIAL_CHANGE:.0%} of their mean"
        if settled
        else f"WA still changes by more than {MATERIAL_CHANGE:.0%} between the last passes"
    )
    own = SteadyState(
        warmup_pages=cut * pass_pages,
        wa=mean,
        # What a drive learns from pass to pass is no draw: no pass that is kept lies outside.
        ci_low=min(mean - half_width, float(kept.min())),
        ci_high=max(mean + half_width, float(kept.max())),
        steady=bool(settled),
        reason=reason,
        batches=kept.size,
    )
    if kept.size < _FEWEST_OF_TREND:
        return own  # two passes have an interval that is wide enough
    return with_trend(own, trend(host, flash, float(cut * pass_pages)))


def _settled(wa: npt.NDArray[np.float64]) -> bool:
    return bool(np.all(np.abs(wa - wa.mean()) <= MATERIAL_CHANGE * wa.mean()))
