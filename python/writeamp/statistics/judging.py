"""Judgement of several runs of one experiment: steadiness and write amplification.

One run knows its own noise only. Runs that differ by their seed also show what a seed decides for
good, and together they show slow trends that hide in the noise of each (docs/steady-state.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from writeamp.statistics.drift import MATERIAL_CHANGE, Trend, common_trend, trend
from writeamp.statistics.replicas import student_interval
from writeamp.statistics.steady import SteadyState, analyse

_Floats: TypeAlias = npt.NDArray[np.float64]
Intervals: TypeAlias = tuple[_Floats, _Floats]
"""Host and flash pages of each interval of a run since the fill."""

# A workload that goes in cycles is known after so many of them.
FEWEST_CYCLES = 3

# How far ahead a statement must hold: a run ten times longer.
DOUBLINGS_AHEAD = math.log2(10)
# A trend beyond so many standard errors is one; from the lower bound on it may be.
CERTAIN_TREND = 2.5
POSSIBLE_TREND = 1.0


@dataclass(frozen=True)
class Schedule:
    """Changes of the workload that are known beforehand, in host pages since the fill.

    `last_change` is the last one that does not recur, `cycle` the length of the longest cycle, 0 if
    nothing recurs.
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
    """Judge the first of several runs that differ by their seed.

    Args:
        runs: the intervals of each run, as `analyse` takes them; the replicas may be shorter.
        schedule: changes of the workload.
        warmup: as in `analyse`.
        longer: the intervals of a run that went on for longer than the others.

    Returns:
        The first run's WA. Its interval covers its own, that of the mean over all runs, and where
        a trend that may be chance would lead in a run ten times longer. A trend that is no chance,
        or a change of the workload that the runs do not cover, makes it not steady.

    Raises:
        WriteampError: as `analyse`.
    """
    own = _after_changes(runs[0], schedule, warmup)
    if math.isnan(own.ci_low):
        return own
    before = float(runs[0][0].sum())
    # A warm-up ends on an interval, up to half of one from where the cycle does.
    slack = float(runs[0][0][0]) / 2 if schedule.cycle else 0.0
    runs = [_in_cycles(run, schedule.cycle) for run in runs]
    cuts = [_warmup_pages(run, own, before) + slack for run in runs]
    found = [_wa_after(run, cut) for run, cut in zip(runs[1:], cuts[1:], strict=True)]
    own = _with_spread(replace(own, wa_of_replicas=tuple(found)))
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
    """Judge a run from the workload's last change on, over whole cycles."""
    host, flash = run
    pages = float(host.sum())
    if schedule.last_change >= pages:
        return _refused(
            analyse(host, flash, warmup=warmup),
            f"too short: the workload changes after {schedule.last_change:,.0f} writes, which the "
            "run does not reach",
        )
    if isinstance(warmup, int):
        found = _with_cycles(analyse(host, flash, warmup=warmup), host, flash, schedule.cycle)
        if schedule.last_change > warmup:
            found = _refused(
                found,
                f"the workload changes after {schedule.last_change:,.0f} writes, in what is "
                "measured",
            )
    else:
        found = _automatic(host, flash, schedule)
    cycles = (pages - found.warmup_pages) / schedule.cycle if schedule.cycle else math.inf
    # Whole cycles are measured to the nearest interval.
    if schedule.cycle and cycles < FEWEST_CYCLES - host[0] / schedule.cycle:
        return _refused(
            found,
            f"too short: {cycles:.1f} cycles of {schedule.cycle:,.0f} writes after the warm-up, at "
            f"least {FEWEST_CYCLES} are needed",
        )
    return found


def _automatic(host: _Floats, flash: _Floats, schedule: Schedule) -> SteadyState:
    bounds = np.append(0.0, np.cumsum(host))
    skipped = min(int(np.searchsorted(bounds, schedule.last_change)), host.size - 1)
    found = analyse(host[skipped:], flash[skipped:])
    found = replace(found, warmup_pages=int(bounds[skipped]) + found.warmup_pages)
    whole = _whole_cycles(host, flash, schedule)
    if whole is None:
        return found
    # What a phase differs from another is no warm-up: cycles are compared with cycles.
    by_cycles = analyse(*whole, fewest=FEWEST_CYCLES)
    if math.isnan(by_cycles.ci_low):
        # Of a few cycles chance alone cuts too many.
        last = slice(-FEWEST_CYCLES, None)
        by_cycles = analyse(whole[0][last], whole[1][last], warmup=0, fewest=FEWEST_CYCLES)
        by_cycles = replace(by_cycles, warmup_pages=int(whole[0][:-FEWEST_CYCLES].sum()))
    first = bounds[-1] - whole[0].sum() + by_cycles.warmup_pages
    # A part of a cycle more would weigh its phase too much.
    cut = min(int(np.abs(bounds - first).argmin()), host.size - 1)
    return _around(host[cut:], flash[cut:], replace(by_cycles, warmup_pages=int(bounds[cut])))


def _with_cycles(found: SteadyState, host: _Floats, flash: _Floats, cycle: float) -> SteadyState:
    """Return the estimate after a given warm-up with the interval of its whole cycles."""
    cut = int(np.searchsorted(np.cumsum(host), found.warmup_pages, side="right"))
    whole = _whole_cycles(host[cut:], flash[cut:], Schedule(cycle=cycle))
    if whole is None:
        return found
    by_cycles = analyse(*whole, warmup=0, fewest=FEWEST_CYCLES)
    by_cycles = replace(by_cycles, warmup_pages=found.warmup_pages)
    return _around(host[cut:], flash[cut:], by_cycles)


def _around(host: _Floats, flash: _Floats, by_cycles: SteadyState) -> SteadyState:
    """Return the estimate by cycles, around the WA of the intervals that hold them."""
    wa = float(flash.sum() / host.sum())
    half_width = by_cycles.own_half_width + abs(wa - by_cycles.wa)
    return replace(
        by_cycles, wa=wa, ci_low=wa - half_width, ci_high=wa + half_width, own_half_width=half_width
    )


def _whole_cycles(host: _Floats, flash: _Floats, schedule: Schedule) -> Intervals | None:
    """Return the whole cycles after the last change, counted from the end; None of too few."""
    host, flash = _in_cycles((host, flash), schedule.cycle)
    whole = np.isclose(host, schedule.cycle) & (
        np.cumsum(host) - host >= schedule.last_change - host.min() / 2
    )
    if whole.sum() < FEWEST_CYCLES:
        return None
    return host[whole], flash[whole]


def _in_cycles(run: Intervals, cycle: float) -> Intervals:
    """Return a run in whole cycles, counted from its end, after what is left of it.

    A run that is shorter, or whose intervals are longer, is returned as it is.
    """
    host, flash = run
    bounds = np.append(0.0, np.cumsum(host))
    pages = float(bounds[-1])
    # The last cycle that is needed may begin within the first interval.
    cycles = int((pages + host[0] / 2) // cycle) if cycle else 0
    if cycles < FEWEST_CYCLES or cycle <= host.max():
        return run
    ends = np.maximum(pages - cycle * np.arange(cycles, -1, -1), 0.0)
    if ends[0] > 0:
        ends = np.append(0.0, ends)
    programmed = np.interp(ends, bounds, np.append(0.0, np.cumsum(flash)))
    return np.diff(ends), np.diff(programmed)


def _refused(found: SteadyState, reason: str) -> SteadyState:
    """Return the estimate as not steady; a reason that it has already comes first."""
    return replace(found, steady=False, reason=reason if found.steady else found.reason)


def _warmup_pages(run: Intervals, own: SteadyState, pages: float) -> float:
    """Return the warm-up of a run; of one that is shorter than `pages` half is measured."""
    length = float(run[0].sum())
    return own.warmup_pages if length >= pages else min(own.warmup_pages, length / 2)


def _wa_after(run: Intervals, warmup_pages: float) -> float:
    host, flash = run
    first = int(np.searchsorted(np.cumsum(host), warmup_pages, side="right"))
    first = min(first, host.size - 1)
    return float(flash[first:].sum() / host[first:].sum())


def _with_spread(own: SteadyState) -> SteadyState:
    """Widen the interval by that of the mean over all runs."""
    if not own.wa_of_replicas:
        return own
    low, high = student_interval(np.array([own.wa, *own.wa_of_replicas]))
    runs = 1 + len(own.wa_of_replicas)
    reason = (
        f"{own.reason}; judged by {runs} runs with different seeds" if own.steady else own.reason
    )
    return replace(own, ci_low=min(own.ci_low, low), ci_high=max(own.ci_high, high), reason=reason)


def with_trend(own: SteadyState, found: Trend) -> SteadyState:
    """Refuse a certain trend; let the interval reach to where a possible one leads.

    Args:
        own: what was found without it.
        found: the trend.
    """
    own = _refused_by_trend(own, found)
    if abs(found.per_doubling) <= POSSIBLE_TREND * found.error:
        return own
    ahead = DOUBLINGS_AHEAD * found.per_doubling
    return replace(own, ci_low=own.ci_low + min(ahead, 0.0), ci_high=own.ci_high + max(ahead, 0.0))


def _refused_by_trend(own: SteadyState, found: Trend) -> SteadyState:
    """Return the estimate as not steady if the trend is certain, and would lead far."""
    ahead = DOUBLINGS_AHEAD * found.per_doubling
    half_width = (own.ci_high - own.ci_low) / 2
    if abs(found.per_doubling) <= CERTAIN_TREND * found.error:
        return own
    if abs(ahead) <= max(MATERIAL_CHANGE * own.wa, half_width / 2):
        return own
    verb = "rises" if ahead > 0 else "falls"
    return _refused(
        own,
        f"drifting: write amplification {verb} by {abs(found.per_doubling):.3g} with each "
        f"doubling of the run, so that one ten times longer may find {own.wa + ahead:.4g}",
    )


def _reaching(own: SteadyState, wa: float) -> SteadyState:
    """Let the interval reach to a WA that another run has found."""
    return replace(own, ci_low=min(own.ci_low, wa), ci_high=max(own.ci_high, wa))
