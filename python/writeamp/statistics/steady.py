"""Steady state: cut the warm-up, and compute write amplification with a confidence interval.

docs/steady-state.md describes the method and its limits; the constants below are its parameters.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from writeamp.errors import WriteampError
from writeamp.statistics.batches import Batches, uncorrelated
from writeamp.statistics.drift import MATERIAL_CHANGE, drift_within
from writeamp.statistics.noise import half_width_of_wa

_Floats: TypeAlias = npt.NDArray[np.float64]

# Fewest intervals for an estimate of their scatter.
MIN_INTERVALS = 10

# MSER-5 averages groups of five intervals. A run that is too short for ten groups uses single
# intervals. At least ten groups must remain after a cut, because few groups may agree by chance.
MSER_GROUP = 5
MIN_GROUPS = 10

# MSER cuts until the transient is smaller than the noise of a single interval. The rest of the
# transient still shifts the mean of many intervals, so 50% more is cut (docs/steady-state.md).
WARMUP_MARGIN = 1.5

# The run has settled at the first cut whose MSER statistic is within this factor of the minimum,
# because the position of the minimum is random. With the margin, the cut must be in the first half.
SETTLED_WITHIN = 2.0


@dataclass(frozen=True)
class SteadyState:
    """Write amplification after the warm-up, and whether it is steady.

    Attributes:
        warmup_pages: host pages of the warm-up.
        wa: flash pages programmed per host page written after the warm-up.
        ci_low, ci_high: bounds of the long-run value with 95% confidence, if `steady`; NaN with too
            few intervals.
        steady: True if the run reached a steady state.
        reason: sentence on why the run is steady or not.
        batches: number of batch means that were tested for drift.
        own_half_width: half width of the interval from the noise of this run alone.
        wa_of_replicas: WA of runs of the experiment with other seeds, after the same warm-up.
        loop_decides: True if WA is determined by the loop over a trace.
    """

    warmup_pages: int
    wa: float
    ci_low: float
    ci_high: float
    steady: bool
    reason: str
    batches: int
    own_half_width: float = math.nan
    wa_of_replicas: tuple[float, ...] = ()
    loop_decides: bool = False


def analyse(
    host_pages: npt.ArrayLike,
    flash_pages: npt.ArrayLike,
    *,
    warmup: int | Literal["auto"] = "auto",
    fewest: int = MIN_INTERVALS,
) -> SteadyState:
    """Cut the warm-up from a run and estimate its steady write amplification.

    Args:
        host_pages: host pages written in each interval, shape (n,). Intervals are equal, except the
            last, which may be shorter, and intervals within an explicit `warmup`.
        flash_pages: flash pages programmed in each interval, shape (n,).
        warmup: "auto" computes the warm-up with MSER-5 (White 1997) and a margin. A number of host
            pages is cut exactly, and must end on an interval boundary.
        fewest: intervals that must remain, at least 3; few are enough if each is a whole cycle.

    Returns:
        The estimate; its interval is from slow fluctuations (`noise.py`) and Student's t.

    Raises:
        WriteampError: the arrays are not counts of the same number of intervals, or `warmup` is not
            on a boundary or covers the whole run.
    """
    host, flash = _counts(host_pages, flash_pages)
    late: str | None = None
    if warmup == "auto":
        cut, late = _find_warmup(host, flash)
    elif isinstance(warmup, str):
        raise WriteampError(f"warmup must be 'auto' or a number of host pages, not {warmup!r}")
    else:
        cut = _boundary(host, warmup)
    warmup_pages = int(host[:cut].sum())
    host, flash = host[cut:], flash[cut:]
    wa = float(flash.sum() / host.sum())
    if host.size < fewest:
        reason = f"too short: {host.size} intervals after the warm-up, at least {fewest} are needed"
        return SteadyState(warmup_pages, wa, math.nan, math.nan, False, reason, 0)
    batches = uncorrelated(host, flash)
    half_width = half_width_of_wa(host, flash)
    unsteady = late or drift_within(batches)
    return SteadyState(
        warmup_pages=warmup_pages,
        wa=wa,
        ci_low=wa - half_width,
        ci_high=wa + half_width,
        steady=unsteady is None,
        reason=unsteady or _steady_reason(batches),
        batches=batches.wa.size,
        own_half_width=half_width,
    )


def _counts(host_pages: npt.ArrayLike, flash_pages: npt.ArrayLike) -> tuple[_Floats, _Floats]:
    host, flash = np.asarray(host_pages, np.float64), np.asarray(flash_pages, np.float64)
    if host.ndim != 1 or host.shape != flash.shape:
        raise WriteampError(
            "host_pages and flash_pages must be one-dimensional and of equal length, "
            f"but they have the shapes {host.shape} and {flash.shape}"
        )
    if host.size == 0:
        raise WriteampError("host_pages is empty; it must have at least one interval")
    if not (np.isfinite(host).all() and (host > 0).all()):
        raise WriteampError("host_pages must be finite and greater than 0 in every interval")
    if not (np.isfinite(flash).all() and (flash >= 0).all()):
        raise WriteampError("flash_pages must be finite and at least 0 in every interval")
    return host, flash


def _boundary(host: _Floats, warmup_pages: int) -> int:
    """Return the number of intervals that make up exactly `warmup_pages`."""
    ends = np.concatenate(([0.0], np.cumsum(host)))
    if not 0 <= warmup_pages < ends[-1]:
        raise WriteampError(
            f"warmup must be at least 0 and less than the {int(ends[-1])} host pages measured, "
            f"not {warmup_pages}"
        )
    cut = int(np.searchsorted(ends, warmup_pages))
    if ends[cut] != warmup_pages:
        raise WriteampError(
            f"warmup must end on an interval boundary, not at {warmup_pages} host pages: "
            f"the nearest are {int(ends[cut - 1])} and {int(ends[cut])}"
        )
    return cut


def _find_warmup(host: _Floats, flash: _Floats) -> tuple[int, str | None]:
    """Return the number of intervals to cut, and why this is not enough, or None."""
    whole = host.size - 1 if host[-1] < host[0] else host.size
    group = MSER_GROUP if whole >= MSER_GROUP * MIN_GROUPS else 1
    groups = whole // group
    if groups < 2:
        return 0, None
    host_sums = host[: groups * group].reshape(groups, group).sum(axis=1)
    flash_sums = flash[: groups * group].reshape(groups, group).sum(axis=1)
    statistic = _mser(flash_sums / host_sums)
    half = host.size // 2
    cut = min(_with_margin(group * int(np.argmin(statistic[: groups // 2 + 1]))), half)
    settled = int(np.argmax(statistic <= SETTLED_WITHIN * statistic.min()))
    if _with_margin(group * settled) <= half:
        return cut, None
    third = min(groups // 3, settled - 1)
    wa_before = float(flash_sums[third:settled].sum() / host_sums[third:settled].sum())
    wa_after = float(flash_sums[settled:].sum() / host_sums[settled:].sum())
    if abs(wa_after - wa_before) < MATERIAL_CHANGE * wa_after:
        return cut, None
    place = "in the second half" if group * settled > half else "too long"
    return cut, (
        f"warm-up {place}: the run settles only after {group * settled} of {host.size} intervals, "
        f"where WA goes from {wa_before:.4g} to {wa_after:.4g}"
    )


def _with_margin(intervals: int) -> int:
    return math.ceil(intervals * WARMUP_MARGIN)


def _mser(wa: _Floats) -> _Floats:
    """Return the MSER statistic, Σ(x − mean)²/(n − d)², of each possible cut d of groups.

    White, "An effective truncation heuristic for bias reduction in simulation output",
    Simulation 69 (6), 1997.
    """
    # Centred first, because sums of squares of nearly equal numbers would cancel.
    centred = wa - wa.mean()
    searched = max(wa.size - MIN_GROUPS, wa.size // 2) + 1
    remaining = wa.size - np.arange(searched)
    sums = np.cumsum(centred[::-1])[::-1][:searched]
    squares = np.cumsum(centred[::-1] ** 2)[::-1][:searched]
    statistic: _Floats = np.maximum(squares - sums * sums / remaining, 0.0) / remaining**2
    return statistic


def _steady_reason(batches: Batches) -> str:
    reason = f"no drift in {batches.wa.size} batches"
    if not batches.are_correlated():
        return reason
    return (
        f"{reason}, but they are still correlated ({batches.own_correlation():.2f}), so a small "
        "drift may be hidden; use a longer run for a narrower interval"
    )
