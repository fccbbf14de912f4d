"""Facts and warnings that results share, in words."""

from __future__ import annotations

import math
from collections.abc import Iterable

from writeamp.devices.device import Device
from writeamp.devices.policy import Policy
from writeamp.registry.specs import Spec
from writeamp.results.numbers import with_interval
from writeamp.runs.preconditioning import Ageing


def wa_in_words(wa: float, interval: tuple[float, float], name: str = "95% CI") -> str:
    """Return WA with its interval by name, if there is one."""
    if math.isnan(wa):
        return "– (the host wrote nothing)"
    return with_interval(wa, interval, name=name)


def shape_in_words(device: Device) -> str:
    """Return a flash drive's shape."""
    geometry = device.geometry
    return (
        f"{device.name}: {geometry.blocks:,} blocks × {geometry.pages_per_block:,} pages, "
        f"{device.layout}"
    )


def steady_in_words(steady: bool, reason: str) -> str:
    """Return why a run is steady, or that it is not and why."""
    return reason if steady else f"NO: {reason}"


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


def horizon_warnings(policy: Policy, device: Device) -> list[str]:
    """Return a warning if most pages may live longer than the manager foresees; else none.

    A page that is written as often as the others lives for as many writes as there are pages.
    """
    manager = Spec.of("managers", policy.manager)
    if manager.name != "oracle" or manager.params.get("spacing") != "linear":
        return []
    blocks = int(manager.params["streams"])
    foreseen = blocks * device.pages_per_block / device.logical_pages
    if foreseen >= 1:
        return []
    return [
        f"spacing=linear has a class for each of the next {blocks} blocks' worth of writes, "
        f"{foreseen:.2g} of the drive: pages that live longer share the last class, which can cost "
        "several times the WA of spacing=log"
    ]
