"""Steady state and write amplification of several runs of one experiment.

A single run shows only its own noise. Runs with different seeds also show permanent differences
between seeds, and slow trends that are hidden in the noise of one run (docs/steady-state.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import chdtri  # type: ignore[import-untyped]

from writeamp.statistics.drift import MATERIAL_CHANGE, Trend, common_trend, trend
from writeamp.statistics.noise import TIMES_LONGER
from writeamp.statistics.replicas import student_interval
from writeamp.statistics.steady import SteadyState, analyse

_Floats: TypeAlias = npt.NDArray[np.float64]
Intervals: TypeAlias = tuple[_Floats, _Floats]
"""Host and flash pages of each interval of a run since the fill."""

# Minimum number of cycles of a periodic workload that a run must measure.
FEWEST_CYCLES = 3

# Doublings of the run over which trends are extrapolated: to a run ten times longer.
DOUBLINGS_AHEAD = math.log2(TIMES_LONGER)
# A trend is certain, or possible, if it is more than this many standard errors. A third of all runs
# without any trend exceed one standard error, and 5% exceed two.
CERTAIN_TREND = 2.5
POSSIBLE_TREND = 2.0

# Significance level of the test whether the seed changes WA for good.
SEED_LEVEL = 0.05
# Half width of a 95% interval in standard errors, if these are known.
NORMAL_95 = 1.96


@dataclass(frozen=True)
class Schedule:
    """Scheduled changes of the workload, in host pages since the fill.

    `last_change` is the time of the last change that does not repeat. `cycle` is the length of the
    longest cycle of repeated changes, or 0 for workloads without cycles.
    """

    last_change: float = 0.0
    cycle: float = 0.0


def judge(
    runs: Sequence[Intervals],
    schedule: Schedule,
    *,
    warmup: int | Literal["auto"] = "auto",
    longer: Intervals | None = None,
) -> SteadyState:
    """Estimate WA and steadiness of the first of several runs that differ by their seed.

    Args:
        runs: intervals of each run, as for `analyse`; replicas may be shorter than the first run.
        schedule: changes of the workload.
        warmup: as in `analyse`.
        longer: intervals of a run that is longer than the others, or None.

    Returns:
        The first run's WA. The interval covers the interval of this run, the interval of the mean
        over all runs if their seeds matter, the extrapolation of a possible trend to a run ten
        times longer, and the WA of the second half of `longer`. A certain trend, or a change of the
        workload after the end of the run, makes it not steady.

    Raises:
        WriteampError: as in `analyse`.
    """
    own = _after_changes(runs[0], schedule, warmup)
    if math.isnan(own.ci_low):
        return own
    length = float(runs[0][0].sum())
    # A warm-up ends on an interval boundary, up to half an interval away from the cycle's end.
    slack = float(runs[0][0][0]) / 2 if schedule.cycle else 0.0
    runs = [_in_cycles(run, schedule.cycle) for run in runs]
    cuts = [_warmup_pages(run, own, length) + slack for run in runs]
    wa_of_replicas = [_wa_after(run, cut) for run, cut in zip(runs[1:], cuts[1:], strict=True)]
    lengths = [float(run[0].sum()) - cut for run, cut in zip(runs, cuts, strict=True)]
    shares = np.array(lengths[1:]) / lengths[0]
    own = _with_spread(replace(own, wa_of_replicas=tuple(wa_of_replicas)), shares)
    trends = [trend(*run, cut) for run, cut in zip(runs, cuts, strict=True)]
    own = with_trend(own, common_trend(trends))
    if longer is None:
        return own
    longer = _in_cycles(longer, schedule.cycle)
    own = _refused_by_trend(own, trend(*longer, own.warmup_pages))
    return _reaching(own, _wa_after(longer, float(longer[0].sum()) / 2))


def _after_changes(
    run: Intervals, schedule: Schedule, warmup: int | Literal["auto"]
) -> SteadyState:
    """Analyse a run after the workload's last change, over whole cycles."""
    host, flash = run
    pages = float(host.sum())
    if schedule.last_change >= pages:
        return _refused(
            analyse(host, flash, warmup=warmup),
            f"too short: the workload changes after {schedule.last_change:,.0f} writes, after the "
            "end of the run",
        )
    if isinstance(warmup, int):
        estimate = _with_cycles(analyse(host, flash, warmup=warmup), host, flash, schedule.cycle)
        if schedule.last_change > warmup:
            estimate = _refused(
                estimate,
                f"the workload changes after {schedule.last_change:,.0f} writes, within the "
                "measured run; use a longer warm-up",
            )
    else:
        estimate = _automatic(host, flash, schedule)
    cycles = (pages - estimate.warmup_pages) / schedule.cycle if schedule.cycle else math.inf
    # The warm-up ends at the end of an interval, so the cycles may lack up to one interval.
    if schedule.cycle and cycles < FEWEST_CYCLES - host[0] / schedule.cycle:
        return _refused(
            estimate,
            f"too short: {cycles:.1f} cycles of {schedule.cycle:,.0f} writes after the warm-up, at "
            f"least {FEWEST_CYCLES} are needed",
        )
    return estimate


def _automatic(host: _Floats, flash: _Floats, schedule: Schedule) -> SteadyState:
    bounds = np.append(0.0, np.cumsum(host))
    skipped = min(int(np.searchsorted(bounds, schedule.last_change)), host.size - 1)
    estimate = analyse(host[skipped:], flash[skipped:])
    estimate = replace(estimate, warmup_pages=int(bounds[skipped]) + estimate.warmup_pages)
    whole = _whole_cycles(host, flash, schedule)
    if whole is None:
        return estimate
    # WA differs between phases of a cycle, which is not a warm-up. So whole cycles are compared.
    by_cycles = analyse(*whole, fewest=FEWEST_CYCLES)
    if math.isnan(by_cycles.ci_low):
        # With few cycles, MSER may cut too many cycles by chance.
        last = slice(-FEWEST_CYCLES, None)
        by_cycles = analyse(whole[0][last], whole[1][last], warmup=0, fewest=FEWEST_CYCLES)
        by_cycles = replace(by_cycles, warmup_pages=int(whole[0][:-FEWEST_CYCLES].sum()))
    first = bounds[-1] - whole[0].sum() + by_cycles.warmup_pages
    # An incomplete cycle would give its phases too much weight, so it is cut.
    cut = min(int(np.abs(bounds - first).argmin()), host.size - 1)
    return _around(host[cut:], flash[cut:], replace(by_cycles, warmup_pages=int(bounds[cut])))


def _with_cycles(estimate: SteadyState, host: _Floats, flash: _Floats, cycle: float) -> SteadyState:
    """Return the estimate after a given warm-up, with the interval computed from whole cycles."""
    cut = int(np.searchsorted(np.cumsum(host), estimate.warmup_pages, side="right"))
    whole = _whole_cycles(host[cut:], flash[cut:], Schedule(cycle=cycle))
    if whole is None:
        return estimate
    by_cycles = analyse(*whole, warmup=0, fewest=FEWEST_CYCLES)
    by_cycles = replace(by_cycles, warmup_pages=estimate.warmup_pages)
    return _around(host[cut:], flash[cut:], by_cycles)


def _around(host: _Floats, flash: _Floats, by_cycles: SteadyState) -> SteadyState:
    """Return the estimate by cycles, centred on the WA of all their intervals."""
    wa = float(flash.sum() / host.sum())
    half_width = by_cycles.own_half_width + abs(wa - by_cycles.wa)
    return replace(
        by_cycles, wa=wa, ci_low=wa - half_width, ci_high=wa + half_width, own_half_width=half_width
    )


def _whole_cycles(host: _Floats, flash: _Floats, schedule: Schedule) -> Intervals | None:
    """Return the whole cycles after the last change, up to the run's end; None if too few."""
    host, flash = _in_cycles((host, flash), schedule.cycle)
    whole = np.isclose(host, schedule.cycle) & (
        np.cumsum(host) - host >= schedule.last_change - host.min() / 2
    )
    if whole.sum() < FEWEST_CYCLES:
        return None
    return host[whole], flash[whole]


def _in_cycles(run: Intervals, cycle: float) -> Intervals:
    """Return a run divided into whole cycles, aligned to its end, with the remainder first.

    A run that is too short, or has intervals longer than a cycle, is returned unchanged.
    """
    host, flash = run
    bounds = np.append(0.0, np.cumsum(host))
    pages = float(bounds[-1])
    # The first cycle may begin within the first interval.
    cycles = int((pages + host[0] / 2) // cycle) if cycle else 0
    if cycles < FEWEST_CYCLES or cycle <= host.max():
        return run
    ends = np.maximum(pages - cycle * np.arange(cycles, -1, -1), 0.0)
    if ends[0] > 0:
        ends = np.append(0.0, ends)
    programmed = np.interp(ends, bounds, np.append(0.0, np.cumsum(flash)))
    return np.diff(ends), np.diff(programmed)


def _refused(estimate: SteadyState, reason: str) -> SteadyState:
    """Return the estimate marked as not steady; an existing reason is kept."""
    return replace(estimate, steady=False, reason=reason if estimate.steady else estimate.reason)


def _warmup_pages(run: Intervals, own: SteadyState, pages: float) -> float:
    """Return the warm-up of a run; at most half of a run that is shorter than `pages`."""
    length = float(run[0].sum())
    return own.warmup_pages if length >= pages else min(own.warmup_pages, length / 2)


def _wa_after(run: Intervals, warmup_pages: float) -> float:
    host, flash = run
    first = int(np.searchsorted(np.cumsum(host), warmup_pages, side="right"))
    first = min(first, host.size - 1)
    return float(flash[first:].sum() / host[first:].sum())


def _with_spread(own: SteadyState, shares: _Floats) -> SteadyState:
    """Widen the interval to cover the interval of the mean over all runs, if the seed matters.

    Args:
        own: estimate of the first run, with the WA of its replicas.
        shares: length of each replica after its warm-up, as a share of the first run's.
    """
    if not own.wa_of_replicas:
        return own
    runs = 1 + len(own.wa_of_replicas)
    reason = (
        f"{own.reason}; judged by {runs} runs with different seeds" if own.steady else own.reason
    )
    wa = np.array([own.wa, *own.wa_of_replicas])
    if not _seed_matters(own, wa, np.append(1.0, shares)):
        return replace(own, reason=reason)
    low, high = student_interval(wa)
    return replace(own, ci_low=min(own.ci_low, low), ci_high=max(own.ci_high, high), reason=reason)


def _seed_matters(own: SteadyState, wa: _Floats, shares: _Floats) -> bool:
    """Return whether runs differ significantly more than by the noise within a run."""
    # Student's t in the half width allows for the uncertainty of the noise.
    noise = (own.own_half_width / NORMAL_95) ** 2
    excess = float(shares @ (wa - np.average(wa, weights=shares)) ** 2)
    return excess > noise * float(chdtri(wa.size - 1, SEED_LEVEL))


def with_trend(own: SteadyState, slope: Trend, *, possible: float = POSSIBLE_TREND) -> SteadyState:
    """Mark a certain trend that matters as not steady; widen the interval for a possible trend.

    Args:
        own: estimate without the trend.
        slope: trend of WA per doubling of the run.
        possible: number of standard errors above which a trend widens the interval.
    """
    own = _refused_by_trend(own, slope)
    if abs(slope.per_doubling) <= possible * slope.error:
        return own
    ahead = DOUBLINGS_AHEAD * slope.per_doubling
    return replace(own, ci_low=own.ci_low + min(ahead, 0.0), ci_high=own.ci_high + max(ahead, 0.0))


def _refused_by_trend(own: SteadyState, slope: Trend) -> SteadyState:
    """Mark the estimate as not steady if the trend is certain and large enough to matter."""
    ahead = DOUBLINGS_AHEAD * slope.per_doubling
    half_width = (own.ci_high - own.ci_low) / 2
    if abs(slope.per_doubling) <= CERTAIN_TREND * slope.error:
        return own
    if abs(ahead) <= max(MATERIAL_CHANGE * own.wa, half_width / 2):
        return own
    verb = "rises" if ahead > 0 else "falls"
    return _refused(
        own,
        f"drifting: write amplification {verb} by {abs(slope.per_doubling):.3g} with each "
        f"doubling of the run, so a run ten times longer may give {own.wa + ahead:.4g}",
    )


def _reaching(own: SteadyState, wa: float) -> SteadyState:
    """Widen the interval to include the WA of another run."""
    return replace(own, ci_low=min(own.ci_low, wa), ci_high=max(own.ci_high, wa))
