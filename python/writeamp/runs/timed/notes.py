"""Notes on what a timed run shows and an untimed one does not."""

from __future__ import annotations

from collections.abc import Mapping

from writeamp.devices.device import Device

# What is done on one die at a time, by layout.
_ON_ONE_DIE = {"flat": "writes and collects", "striped": "collects"}


def notes_on_layout(device: Device) -> tuple[str, ...]:
    """Return a note on each layout that leaves most dies idle.

    Args:
        device: a flash drive, or an array of devices; others have no dies.
    """
    flash = [one for one in (device, *device.members) if one.kind == "flash"]
    idle = [one for one in flash if one.geometry.luns > 1 and one.layout in _ON_ONE_DIE]
    return tuple(dict.fromkeys(map(_on_one_die, idle)))


def _on_one_die(device: Device) -> str:
    return (
        f"layout {device.layout} {_ON_ONE_DIE[device.layout]} on one die at a time, so that "
        f"throughput hardly grows with the {device.dies} dies of {device.name}; layout "
        "striped-per-lun uses all"
    )


def notes_on_table(causes: Mapping[str, int], host_pages: int) -> list[str]:
    """Return a note on the mapping table, if pages of it were programmed.

    Args:
        causes: pages programmed, by cause.
        host_pages: pages that the host wrote meanwhile.
    """
    if not causes["mapping"] or not host_pages:
        return []
    return [
        f"the mapping table does not fit in memory: {causes['mapping'] / host_pages:.2f} of WA are "
        "pages of it, which are collected too; an untimed run leaves the table out"
    ]
