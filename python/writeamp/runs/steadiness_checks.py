"""Checks of a steady run against its drive and trace, which no series of WA shows."""

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

# Until the flash has been programmed so often, collection has hardly begun.
_FEWEST_TIMES_PROGRAMMED = 2


def check_turnovers(steady: SteadyState, times: float, *, since: str = "the fill") -> SteadyState:
    """Refuse a run in which all of the flash was programmed too few times since a moment."""
    if times >= _FEWEST_TIMES_PROGRAMMED:
        return steady
    reason = (
        f"too short: all of the flash was programmed {times:.2f} times since {since}, at "
        f"least {_FEWEST_TIMES_PROGRAMMED} are needed"
    )
    # What had hardly begun has no interval either: all that was collected may be one block.
    return replace(steady, steady=False, reason=reason, ci_low=math.nan, ci_high=math.nan)


def check_passes(
    steady: SteadyState, pass_pages: int, flash_of_passes: Sequence[float], times: float
) -> SteadyState:
    """Judge a replayed trace by its whole passes, beside the batches of its series.

    Args:
        steady: what the batches say.
        pass_pages: host pages written in a pass.
        flash_of_passes: flash pages programmed in each whole pass.
        times: how often all of the flash was programmed, in the first pass or as far as it came.
    """
    if times >= MEMORY_TIMES or math.isnan(steady.ci_low):
        return steady
    passes = len(flash_of_passes)
    if passes < FEWEST_PASSES:
        reason = (
            "too short: whether the next pass would find the same is not known before "
            f"{FEWEST_PASSES} whole ones, and the first programs all of the flash {times:.3g} times"
        )
        return replace(steady, steady=False, reason=reason if steady.steady else steady.reason)
    found = analyse_passes(pass_pages, flash_of_passes)
    if not found.steady:
        return replace(steady, steady=False, reason=found.reason)
    return replace(
        steady,
        ci_low=min(steady.ci_low, found.ci_low),
        ci_high=max(steady.ci_high, found.ci_high),
    )


def check_loop(
    steady: SteadyState, trace: PageTrace, drive: Device, mapped_pages: int
) -> SteadyState:
    """Refuse a run over a looped trace whose WA the loop decides.

    Args:
        steady: what was found.
        trace: the trace that was looped.
        drive: what it played on.
        mapped_pages: logical pages that hold data.
    """
    found = loop_effect(trace, drive, mapped_pages)
    if found is None:
        return steady
    reason = f"the loop makes this number, not the workload: {found}"
    return replace(steady, steady=False, reason=reason, loop_decides=True)


def loop_effect(trace: PageTrace, drive: Device, mapped_pages: int) -> str | None:
    """Return the sentence on how a loop over a trace decides its WA; None if it does not.

    Args:
        trace: the trace.
        drive: what it plays on.
        mapped_pages: logical pages that hold data.
    """
    spare_pages = drive.physical_pages - mapped_pages
    return analyse_loop(trace, drive.geometry.pages_per_block).decides(spare_pages)
