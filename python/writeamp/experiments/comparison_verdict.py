"""How a run of a comparison over a trace is judged: as strictly as `simulate` judges it.

A comparison measures the second half of every run, whatever had settled by then, and the half alone
may hide what the run as a whole shows: a slow rise, or phases of the trace.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from writeamp.experiments.counts import flash_pages
from writeamp.experiments.settings import Warmup
from writeamp.experiments.simulation_result import Result
from writeamp.experiments.verdicts import programmed_enough
from writeamp.registry.specs import Spec
from writeamp.statistics.judging import Schedule, judge
from writeamp.statistics.passes import FEWEST_PASSES, analyse_passes
from writeamp.statistics.steady import SteadyState


def judged(result: Result) -> SteadyState:
    """Return what a run found in its second half, judged by all of it if it played a trace."""
    plan = result.plan
    if isinstance(plan.load, Spec) or not result.warmup_pages:
        return result.steady_state
    passes, rest = divmod(result.writes, plan.load.host_pages)
    if rest or passes < FEWEST_PASSES:
        return _by_simulate(result)
    return _by_passes(result, plan.load.host_pages)


def _by_simulate(result: Result) -> SteadyState:
    """Refuse a run that would not be steady from the end of its own warm-up on."""
    own = result.steady_state
    samples = result.samples
    host, flash = np.diff(samples["host_pages"]), np.diff(flash_pages(samples))
    # A drive that is aged is not warmed up.
    warmup: Warmup = 0 if result.ageing else "auto"
    whole = judge([(host.astype(float), flash.astype(float))], Schedule(), warmup=warmup)
    if whole.steady or not own.steady:
        return own
    return replace(own, steady=False, reason=whole.reason)


def _by_passes(result: Result, pass_pages: int) -> SteadyState:
    """Judge by the last passes, at least half of them, with an interval around what is measured."""
    own = result.steady_state
    flash = np.rint(result.passes["wa"].to_numpy() * pass_pages)
    found = analyse_passes(pass_pages, flash, cut=flash.size // 2)
    # A pass that is measured in part shifts the mean by its phase.
    half_width = (found.ci_high - found.ci_low) / 2 + abs(own.wa - found.wa)
    judged = replace(
        found,
        warmup_pages=own.warmup_pages,
        wa=own.wa,
        ci_low=own.wa - half_width,
        ci_high=own.wa + half_width,
    )
    if own.loop_decides:
        return replace(judged, steady=False, reason=own.reason, loop_decides=True)
    aged_pages = result.ageing.flash_pages if result.ageing else 0
    programmed = aged_pages + int(flash_pages(result.samples)[-1])
    return programmed_enough(judged, programmed / result.device.physical_pages)
