"""Steady state: cut the warm-up, and give write amplification a confidence interval.

The rule and its limits are stated in docs/steady-state.md; the constants below are its numbers.
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

_Floats: TypeAlias = npt.NDArray[np.float64]

# Fewer intervals than this tell nothing about their own scatter.
MIN_INTERVALS = 10

# MSER-5: groups of five intervals; a run too short for ten groups is judged interval by interval.
# At least ten groups must remain after a cut, because few are alike by chance.
MSER_GROUP = 5
MIN_GROUPS = 10

# MSER stops where the rest of a transient hides in the noise of a single interval, which still
# shifts the mean of many: half as much again is cut (measured: docs/steady-state.md).
WARMUP_MARGIN = 1.5

# The run has settled where the statistic first comes within this factor of its minimum (chance
# moves the minimum itself far to the right); with its margin that must lie in the first half.
SETTLED_WITHIN = 2.0


@dataclass(frozen=True)
class SteadyState:
    """Write amplification after the warm-up, and whether it can be trusted.

    `wa` is flash pages programmed per host page written over everything after the first
    `warmup_pages` host pages; `ci_low` and `ci_high` bound its long-run value with 95% confidence
    if `steady` (both are NaN with too few intervals). `reason` says in one sentence why the run
    is or is not steady. `batches` is the number of batch means behind the interval,
    `own_half_width` the part of it that is this run's own noise, and `wa_of_replicas` the WA of
    other runs of the experiment over the same part. `loop_decides` if
    WA is due to the loop over a trace.
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
        host_pages: host pages written in each interval, shape (n,); the intervals are equal, but
            for the last, which may be shorter, and any that an explicit `warmup` cuts off.
        flash_pages: flash pages programmed in each interval, shape (n,).
        warmup: "auto" finds the warm-up with MSER-5 (White 1997) and a margin; a number of host
            pages, which must end on an interval boundary, is cut as it is.
        fewest: intervals that must remain, at least 3; few are enough where each is a whole cycle.

    Returns:
        The estimate; batch means and Student's t give its interval (docs/steady-state.md).

    Raises:
        WriteampError: the arrays are not counts of the same number of intervals, or `warmup` does
            not fall on a boundary or leaves nothing.
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
    half_width = batches.half_width()
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
            f"not of shapes {host.shape} and {flash.shape}"
        )
    if host.size == 0:
        raise WriteampError("host_pages is empty: at least one interval must be measured")
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
    """Return the intervals that MSER-5 and the margin cut, and why that is not enough, if so."""
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
    before = float(flash_sums[third:settled].sum() / host_sums[third:settled].sum())
    after = float(flash_sums[settled:].sum() / host_sums[settled:].sum())
    if abs(after - before) < MATERIAL_CHANGE * after:
        return cut, None
    place = "in the second half" if group * settled > half else "too long"
    return cut, (
        f"warm-up {place}: the run settles only after {group * settled} of {host.size} intervals, "
        f"from {before:.4g} to {after:.4g}"
    )


def _with_margin(intervals: int) -> int:
    return math.ceil(intervals * WARMUP_MARGIN)


def _mser(wa: _Floats) -> _Floats:
    """Return the MSER statistic, Σ(x − mean)²/(n − d)², of each searched cut d of groups.

    White, "An effective truncation heuristic for bias reduction in simulation output",
    Simulation 69 (6), 1997.
    """
    # Centred first: sums of squares of nearly equal numbers would cancel.
    centred = wa - wa.mean()
    searched = max(wa.size - MIN_GROUPS, wa.size // 2) + 1
    kept = wa.size - np.arange(searched)
    sums = np.cumsum(centred[::-1])[::-1][:searched]
    squares = np.cumsum(centred[::-1] ** 2)[::-1][:searched]
    statistic: _Floats = np.maximum(squares - sums * sums / kept, 0.0) / kept**2
    return statistic


def _steady_reason(batches: Batches) -> str:
    reason = f"no drift in {batches.wa.size} batches"
    if not batches.are_correlated():
        return reason
    return (
        f"{reason}, but they are still correlated ({batches.own_correlation():.2f}), so the "
        "interval is widened; a longer run would narrow it"
    )
