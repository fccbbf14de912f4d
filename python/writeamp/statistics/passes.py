"""Steady state of a looped trace: a pass is the natural batch (docs/steady-state.md).

Within a pass WA follows the trace's own phases, which says nothing of warm-up; from pass to pass
the host does exactly the same, so what changes is the drive settling.
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

# Passes whose WA still moves by more than this share belong to the warm-up or to a drift.
MATERIAL_CHANGE = 0.01

# A trace is steady pass by pass from this many passes on; below, interval by interval.
FEWEST_PASSES = 3
# So many are a series as any other is, with a noise of its own.
_MANY_PASSES = 2 * MIN_INTERVALS
# Of fewer no trend is known with an error.
_FEWEST_OF_TREND = 3
# The shortest stretch of passes whose mean has an error.
_FEWEST_OF_STRETCH = 3


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
        them, reaches to where a trend may lead, and is wider by what the last doubling of the run
        has changed.
    """
    flash = np.asarray(flash_pages, np.float64)
    return _held_to_doublings(_by_passes(pass_pages, flash), pass_pages, flash / pass_pages)


def _by_passes(pass_pages: int, flash: npt.NDArray[np.float64]) -> SteadyState:
    """Judge passes by their scatter and their trend."""
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


def _held_to_doublings(
    found: SteadyState, pass_pages: int, wa: npt.NDArray[np.float64]
) -> SteadyState:
    """Hold passes against how the last two doublings of the run have changed their mean.

    The drive goes through the same requests again and again, so passes that follow each other are
    alike, and say too little of their scatter: a scheme that learns wanders for tens of passes. Two
    changes the same way, each beyond its error, are a drift.
    """
    # What is cut of many is chosen by a statistic that such changes move.
    cut = round(found.warmup_pages / pass_pages) if wa.size < _MANY_PASSES else 0
    half, quarter, eighth = (max(wa.size // parts, cut) for parts in (2, 4, 8))
    last, before, first = wa[half:], wa[quarter:half], wa[eighth:quarter]
    if not quarter or not before.size or math.isnan(found.ci_low):
        return found
    change = float(last.mean() - before.mean())
    found = replace(
        found,
        ci_low=found.wa - math.hypot(found.wa - found.ci_low, change),
        ci_high=found.wa + math.hypot(found.ci_high - found.wa, change),
    )
    if first.size < _FEWEST_OF_STRETCH or abs(change) < MATERIAL_DRIFT * found.wa:
        return found
    earlier = float(before.mean() - first.mean())
    is_certain = abs(change) > CERTAIN_TREND * _error(last, before) and abs(
        earlier
    ) > CERTAIN_TREND * _error(before, first)
    if not found.steady or change * earlier <= 0 or not is_certain:
        return found
    verb = "rose" if change > 0 else "fell"
    return replace(
        found,
        steady=False,
        reason=f"drifting: write amplification {verb} by {abs(earlier):.3g} and then by "
        f"{abs(change):.3g} in the last two doublings of the passes",
    )


def _error(later: npt.NDArray[np.float64], earlier: npt.NDArray[np.float64]) -> float:
    """Return the standard error of the difference of two means."""
    return math.sqrt(sum(float(part.var(ddof=1)) / part.size for part in (later, earlier)))


def _settled(wa: npt.NDArray[np.float64]) -> bool:
    return bool(np.all(np.abs(wa - wa.mean()) <= MATERIAL_CHANGE * wa.mean()))
