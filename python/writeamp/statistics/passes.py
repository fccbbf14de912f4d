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
from writeamp.statistics.steady import SteadyState

# Passes whose WA still moves by more than this share belong to the warm-up or to a drift.
MATERIAL_CHANGE = 0.01

# A trace is steady pass by pass from this many passes on; below, interval by interval.
FEWEST_PASSES = 3


def analyse_passes(
    pass_pages: int, flash_pages: npt.ArrayLike, *, cut: int | None = None
) -> SteadyState:
    """Cut the passes in which the drive still settles; the rest are batches.

    The warm-up is the shortest run of first passes after which every pass lies within
    `MATERIAL_CHANGE` of the mean of those that remain; at most half of the passes are cut.

    Args:
        pass_pages: host pages written in a pass.
        flash_pages: flash pages programmed in each pass, shape (n,), n ≥ 3.
        cut: how many passes are warm-up, if that is known beforehand; at least two remain.

    Returns:
        WA over the remaining passes, with Student's t interval over them.
    """
    wa = np.asarray(flash_pages, np.float64) / pass_pages
    most = wa.size // 2
    cuts = range(1, most + 1) if cut is None else [cut]
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
    return SteadyState(
        warmup_pages=cut * pass_pages,
        wa=mean,
        ci_low=mean - half_width,
        ci_high=mean + half_width,
        steady=bool(settled),
        reason=reason,
        batches=kept.size,
    )


def _settled(wa: npt.NDArray[np.float64]) -> bool:
    return bool(np.all(np.abs(wa - wa.mean()) <= MATERIAL_CHANGE * wa.mean()))
