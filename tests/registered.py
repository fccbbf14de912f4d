"""What tests that walk the registries must know of single entries."""

from __future__ import annotations

from writeamp.registry import Entry, engine_entries


def managers(layout: str = "flat") -> list[Entry]:
    """Return the block managers that work in a layout."""
    # HCWF copies back, and Wolf and FDP collect within a group on a LUN: no collection spans LUNs.
    on_one_lun = ("hcwf", "wolf", "fdp")
    return [
        entry
        for entry in engine_entries("managers")
        if not (layout == "striped" and entry.name.startswith(on_one_lun))
    ]


def victims(manager: Entry) -> list[Entry]:
    """Return the victim policies that a block manager works with."""
    # Wolf and FDP keep the blocks of each group in queues of their own.
    in_queues = ("greedy", "fifo")
    return [
        entry
        for entry in engine_entries("victims")
        if entry.name in in_queues or not manager.name.startswith(("wolf", "fdp"))
    ]


def fewest_blocks(manager: Entry, usual: int) -> int:
    """Return the blocks of a small drive that has room for the streams of a manager."""
    few_streams = ("single", "sepgc", "hcwf", "hcwf-swap")
    return usual if manager.name in few_streams else 512
