"""What only the drive and the trace know of a run that looks steady."""

from __future__ import annotations

from dataclasses import replace

from writeamp.devices.device import Device
from writeamp.statistics.steady import SteadyState
from writeamp.traces.looping import analyse_loop
from writeamp.traces.pages import PageTrace

# Until the flash has been programmed so often, collection has hardly begun.
_FEWEST_TIMES_PROGRAMMED = 2


def programmed_enough(steady: SteadyState, times: float, *, since: str = "the fill") -> SteadyState:
    """Refuse a run in which all of the flash was programmed too few times since a moment."""
    if times >= _FEWEST_TIMES_PROGRAMMED:
        return steady
    reason = (
        f"too short: all of the flash was programmed {times:.2f} times since {since}, at "
        f"least {_FEWEST_TIMES_PROGRAMMED} are needed"
    )
    return replace(steady, steady=False, reason=reason)


def not_by_loop(
    steady: SteadyState, trace: PageTrace, drive: Device, mapped_pages: int
) -> SteadyState:
    """Refuse a run over a looped trace whose WA the loop decides.

    Args:
        steady: what was found.
        trace: the trace that was looped.
        drive: what it played on.
        mapped_pages: logical pages that hold data.
    """
    spare_pages = drive.physical_pages - mapped_pages
    found = analyse_loop(trace, drive.geometry.pages_per_block).decides(spare_pages)
    return (
        steady if found is None else replace(steady, steady=False, reason=found, loop_decides=True)
    )
