"""Steady state of a looped trace, by passes over it (docs/steady-state.md).

Within a pass, WA follows the phases of the trace. All passes have the same requests, so differences
between passes come from the drive.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit  # type: ignore[import-untyped]

from writeamp.statistics.batches import CONFIDENCE
from writeamp.statistics.drift import MATERIAL_CHANGE as MATERIAL_DRIFT
from writeamp.statistics.drift import trend
from writeamp.statistics.judging import CERTAIN_TREND, with_trend
from writeamp.statistics.steady import MIN_INTERVALS, SteadyState, analyse

# Passes whose WA deviates by more than this share of the mean are warm-up or drift.
MATERIAL_CHANGE = 0.01

# Fewest passes for an analysis by passes; with fewer, intervals are analysed.
FEWEST_PASSES = 3
# With at least this number of passes, passes are analysed like intervals.
_MANY_PASSES = 2 * MIN_INTERVALS
# A weaker trend than in other runs widens the interval, because passes are few and correlated, and
# no other run shows whether the trend is noise.
_POSSIBLE_TREND = 1.0
# Fewest passes for which a trend has a standard error.
_FEWEST_OF_TREND = 3
# Fewest passes for which a mean has a standard error.
_FEWEST_OF_STRETCH = 3


def analyse_passes(pass_pages: int, flash_pages: npt.ArrayLike) -> SteadyState:
    """Cut the passes in which the drive still settles, and analyse the others as batches.

    Many passes are analysed like intervals. Of few passes, the warm-up is the fewest first passes
    after which all passes are within `MATERIAL_CHANGE` of their mean; at least one and at most half
    of the passes are cut.

    Args:
        pass_pages: host pages written in a pass.
        flash_pages: flash pages programmed in each pass, shape (n,), n ≥ 3.

    Returns:
        WA over the remaining passes, with Student's t interval. The interval is widened to include
        all these passes, the extrapolation of a possible trend, and the change in the last doubling
        of the run.
    """
    flash = np.asarray(flash_pages, np.float64)
    return _held_to_doublings(_by_passes(pass_pages, flash), pass_pages, flash / pass_pages)


def _by_passes(pass_pages: int, flash: npt.NDArray[np.float64]) -> SteadyState:
    """Analyse passes by their scatter and their trend."""
    host = np.full(flash.size, float(pass_pages))
    if flash.size >= _MANY_PASSES:
        estimate = analyse(host, flash)
        slope = trend(host, flash, float(estimate.warmup_pages))
        return with_trend(estimate, slope, possible=_POSSIBLE_TREND)
    wa = flash / pass_pages
    most = wa.size // 2
    cuts = range(1, most + 1)
    settled = [cut for cut in cuts if _settled(wa[cut:])]
    cut = settled[0] if settled else cuts[-1]
    rest = wa[cut:]
    scatter = float(rest.std(ddof=1)) / math.sqrt(rest.size)
    half_width = float(stdtrit(rest.size - 1, (1 + CONFIDENCE) / 2)) * scatter
    mean = float(rest.mean())
    reason = (
        f"the last {rest.size} of {wa.size} passes are within {MATERIAL_CHANGE:.0%} of their mean"
        if settled
        else f"WA still changes by more than {MATERIAL_CHANGE:.0%} between the last passes"
    )
    own = SteadyState(
        warmup_pages=cut * pass_pages,
        wa=mean,
        # Differences between passes are not random, so the interval includes all passes.
        ci_low=min(mean - half_width, float(rest.min())),
        ci_high=max(mean + half_width, float(rest.max())),
        steady=bool(settled),
        reason=reason,
        batches=rest.size,
    )
    if rest.size < _FEWEST_OF_TREND:
        return own  # a trend has no standard error, and the interval of two passes is wide anyway
    slope = trend(host, flash, float(cut * pass_pages))
    return with_trend(own, slope, possible=_POSSIBLE_TREND)


def _held_to_doublings(
    estimate: SteadyState, pass_pages: int, wa: npt.NDArray[np.float64]
) -> SteadyState:
    """Check how the last two doublings of the run changed the mean of the passes.

    Neighbouring passes are similar, so their scatter is too small an estimate: a learning policy
    may change WA over tens of passes. Two significant changes in the same direction are a drift.
    """
    # If many passes were analysed like intervals, no pass is cut as warm-up here, because the
    # warm-up that was found depends on the changes to be tested.
    cut = round(estimate.warmup_pages / pass_pages) if wa.size < _MANY_PASSES else 0
    half, quarter, eighth = (max(wa.size // parts, cut) for parts in (2, 4, 8))
    last, previous, first = wa[half:], wa[quarter:half], wa[eighth:quarter]
    if not quarter or not previous.size or math.isnan(estimate.ci_low):
        return estimate
    change = float(last.mean() - previous.mean())
    estimate = replace(
        estimate,
        ci_low=estimate.wa - math.hypot(estimate.wa - estimate.ci_low, change),
        ci_high=estimate.wa + math.hypot(estimate.ci_high - estimate.wa, change),
    )
    if first.size < _FEWEST_OF_STRETCH or abs(change) < MATERIAL_DRIFT * estimate.wa:
        return estimate
    earlier = float(previous.mean() - first.mean())
    is_certain = abs(change) > CERTAIN_TREND * _error(last, previous) and abs(
        earlier
    ) > CERTAIN_TREND * _error(previous, first)
    if not estimate.steady or change * earlier <= 0 or not is_certain:
        return estimate
    verb = "rose" if change > 0 else "fell"
    return replace(
        estimate,
        steady=False,
        reason=f"drifting: write amplification {verb} by {abs(earlier):.3g} and then by "
        f"{abs(change):.3g} in the last two doublings of the passes",
    )


def _error(later: npt.NDArray[np.float64], earlier: npt.NDArray[np.float64]) -> float:
    """Return the standard error of the difference between the means of two groups of passes."""
    return math.sqrt(sum(float(passes.var(ddof=1)) / passes.size for passes in (later, earlier)))


def _settled(wa: npt.NDArray[np.float64]) -> bool:
    return bool(np.all(np.abs(wa - wa.mean()) <= MATERIAL_CHANGE * wa.mean()))
