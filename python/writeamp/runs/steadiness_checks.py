"""Checks of a run that seems steady, by its drive and trace in addition to the series of WA."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from writeamp.devices.device import Device
from writeamp.runs.plan import MEMORY_TIMES
from writeamp.statistics.passes import FEWEST_PASSES, analyse_passes
from writeamp.statistics.steady import SteadyState
from writeamp.traces.looping import analyse_loop
from writeamp.traces.pages import PageTrace

# A run is not steady before the whole flash was programmed this many times, because collection has
# hardly begun.
_FEWEST_TIMES_PROGRAMMED = 2


def check_turnovers(steady: SteadyState, times: float, *, since: str = "the fill") -> SteadyState:
    """Mark a run as not steady if it has programmed the whole flash too few times."""
    if times >= _FEWEST_TIMES_PROGRAMMED:
        return steady
    reason = (
        f"too short: the whole flash was programmed {times:.2f} times since {since}, and at least "
        f"{_FEWEST_TIMES_PROGRAMMED} are needed"
    )
    # The confidence interval is set to NaN, too, because perhaps only one block was collected.
    return replace(steady, steady=False, reason=reason, ci_low=math.nan, ci_high=math.nan)


def check_passes(
    steady: SteadyState, pass_pages: int, flash_of_passes: Sequence[float], times: float
) -> SteadyState:
    """Judge a replayed trace by its complete passes, in addition to batches of its series.

    If `times` is at least `MEMORY_TIMES`, the verdict does not change.

    Args:
        steady: verdict (steady or not, with reason) from batches of samples.
        pass_pages: host pages written in a pass.
        flash_of_passes: flash pages programmed in each whole pass.
        times: how often the whole flash was programmed in the first pass, or in the whole run if no
            pass is complete.
    """
    if times >= MEMORY_TIMES or math.isnan(steady.ci_low):
        return steady
    passes = len(flash_of_passes)
    if passes < FEWEST_PASSES:
        reason = (
            "too short: at least "
            f"{FEWEST_PASSES} whole passes are needed to show that WA repeats, and the first pass "
            f"programs the whole flash {times:.3g} times"
        )
        return replace(steady, steady=False, reason=reason if steady.steady else steady.reason)
    by_passes = analyse_passes(pass_pages, flash_of_passes)
    if not by_passes.steady:
        return replace(steady, steady=False, reason=by_passes.reason)
    return replace(
        steady,
        ci_low=min(steady.ci_low, by_passes.ci_low),
        ci_high=max(steady.ci_high, by_passes.ci_high),
    )


def check_loop(
    steady: SteadyState, trace: PageTrace, drive: Device, mapped_pages: int
) -> SteadyState:
    """Mark a run over a looped trace as not steady if the loop determines its WA.

    Args:
        steady: verdict so far.
        trace: the looped trace.
        drive: drive of the run.
        mapped_pages: logical pages that hold data.
    """
    effect = loop_effect(trace, drive, mapped_pages)
    if effect is None:
        return steady
    reason = f"the loop determines this WA, not the workload: {effect}"
    return replace(steady, steady=False, reason=reason, loop_decides=True)


def loop_effect(trace: PageTrace, drive: Device, mapped_pages: int) -> str | None:
    """Return a sentence on how a loop over a trace determines its WA, or None if it does not.

    Args:
        trace: the trace.
        drive: drive of the run.
        mapped_pages: logical pages that hold data.
    """
    spare_pages = drive.physical_pages - mapped_pages
    return analyse_loop(trace, drive.geometry.pages_per_block).decides(spare_pages)
