"""Facts that results share, in words."""

from __future__ import annotations

import math

from writeamp.devices.device import Device
from writeamp.results.numbers import with_interval


def wa_in_words(wa: float, ci: tuple[float, float]) -> str:
    """Return WA with its interval, if there is one."""
    if math.isnan(wa):
        return "– (the host wrote nothing)"
    return with_interval(wa, ci)


def drive_in_words(device: Device) -> str:
    """Return a drive's shape and spare space."""
    if device.kind != "flash":
        return f"{device.name}: {device.kind}, {device.capacity_bytes:,} bytes"
    return f"{shape_in_words(device)}; op = (T-U)/U = {device.op:.4g}"


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
