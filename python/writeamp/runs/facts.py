"""Facts of a simulation that take several rows or more than one number, in words."""

from __future__ import annotations

from collections.abc import Iterable

from writeamp.devices.device import Device
from writeamp.runs.preconditioning import Ageing

# A longer list of passes shows so many at each end.
_MOST_PASSES = 8
_SHOWN_PASSES = 3


def before_in_words(ageing: Ageing | None, state: str, device: Device) -> str:
    """Return in what state the run found the drive."""
    if ageing is None:
        return state
    drive_writes = ageing.host_pages / device.logical_pages
    steady = {True: ", steady", False: ", NOT steady", None: ""}[ageing.steady]
    return (
        f"{state}: aged by {drive_writes:.4g} drive writes, WA of the last round "
        f"{ageing.rounds[-1]:.4f}{steady}"
    )


def facts_of_passes(wa_of_passes: Iterable[float]) -> list[tuple[str, str]]:
    """Return WA of each pass over a looped trace, as far as a line holds them."""
    found = [f"{wa:.4f}" for wa in wa_of_passes]
    if len(found) < 2:
        return []
    if len(found) > _MOST_PASSES:
        found = [*found[:_SHOWN_PASSES], "…", *found[-_SHOWN_PASSES:]]
    return [("WA by pass", ", ".join(found))]
