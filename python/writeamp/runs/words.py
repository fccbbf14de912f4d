"""Facts and warnings that several results show as text."""

from __future__ import annotations

import math
from collections.abc import Iterable

from writeamp.devices.device import Device
from writeamp.devices.policy import Policy
from writeamp.registry.declarations import declared
from writeamp.registry.specs import Spec
from writeamp.results.numbers import with_interval
from writeamp.runs.plan import Plan
from writeamp.runs.preconditioning import Ageing
from writeamp.units.byte_sizes import shown_bytes


def wa_in_words(wa: float, interval: tuple[float, float], name: str = "95% CI") -> str:
    """Return WA with its named interval, if there is one."""
    if math.isnan(wa):
        return "– (the host wrote nothing)"
    return with_interval(wa, interval, name=name)


def shape_in_words(device: Device) -> str:
    """Return a flash drive's shape as text."""
    geometry = device.geometry
    return (
        f"{device.name}: {geometry.blocks:,} blocks × {geometry.pages_per_block:,} "
        f"{_units(device) or 'pages'}, {device.layout}"
    )


def size_in_words(device: Device) -> str:
    """Return a drive's logical size as text, and its mapping unit if one was given."""
    size, units = shown_bytes(device.capacity_bytes), _units(device)
    return f"{size} in {units}" if units else size


def _units(device: Device) -> str:
    return f"mapping units of {shown_bytes(device.page_bytes)}" if device.host_page_bytes else ""


def counted_in_words(device: Device, host_pages: int, warmup_pages: int) -> str:
    """Return the host's counted writes, in pages or mapping units, and those before."""
    noun = "mapping units that the host wrote" if device.host_page_bytes else "host pages"
    return f"{host_pages:,} {noun} after a warm-up of {warmup_pages:,}"


def steady_in_words(steady: bool, reason: str) -> str:
    """Return the reason why a run is steady or not."""
    return reason if steady else f"NO: {reason}"


# If a trace was replayed more often than this, only the first and last few passes are shown.
_MOST_PASSES = 8
_SHOWN_PASSES = 3


def before_in_words(ageing: Ageing | None, state: str, device: Device) -> str:
    """Return the state of the drive before the run, as text."""
    if ageing is None:
        return state
    drive_writes = ageing.host_pages / device.logical_pages
    steady = {True: ", steady", False: ", NOT steady", None: ""}[ageing.steady]
    return (
        f"{state}: aged by {drive_writes:.4g} drive writes, WA of the last drive write or pass "
        f"{ageing.rounds[-1]:.4f}{steady}"
    )


def facts_of_passes(wa_of_passes: Iterable[float]) -> list[tuple[str, str]]:
    """Return the WA of each pass over a looped trace, without the middle ones if there are many."""
    shown = [f"{wa:.4f}" for wa in wa_of_passes]
    if len(shown) < 2:
        return []
    if len(shown) > _MOST_PASSES:
        shown = [*shown[:_SHOWN_PASSES], "…", *shown[-_SHOWN_PASSES:]]
    return [("WA by pass", ", ".join(shown))]


def handle_warnings(plan: Plan) -> list[str]:
    """Return a warning if a trace gives more hints than the block manager has handles."""
    manager, last_hint = plan.policy.manager, len(plan.hint_names) - 1
    handles = int(declared(manager)["handles"])
    if last_hint < handles:
        return []
    return [
        f"the trace gives hints up to {last_hint}, but {manager} has {handles} handles; writes "
        f"with hints from {handles - 1} on share the last one; increase handles="
    ]


def horizon_warnings(policy: Policy, device: Device) -> list[str]:
    """Return a warning if the linear classes of manager `oracle` reach less than a drive write.

    A page that is written as often as all others has a lifetime of as many writes as the drive has
    logical pages.
    """
    manager = Spec.of("managers", policy.manager)
    if manager.name != "oracle" or manager.params.get("spacing") != "linear":
        return []
    blocks = int(manager.params["streams"])
    foreseen = blocks * device.pages_per_block / device.logical_pages
    if foreseen >= 1:
        return []
    return [
        f"spacing=linear has classes for the next {blocks} blocks' worth of writes, "
        f"{foreseen:.2g} of the drive; pages that live longer share the last class, which can "
        "increase WA several times; use spacing=log"
    ]
