"""Horizon of the placement `oracle`: a warning if it foresees too few writes."""

from __future__ import annotations

from writeamp.devices.device import Device
from writeamp.devices.policy import Policy
from writeamp.registry.specs import Spec


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
