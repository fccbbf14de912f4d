"""What tests that walk the registries must know of single entries."""

from __future__ import annotations

from writeamp.registry import Entry, engine_entries


def managers(layout: str = "flat") -> list[Entry]:
    """Return the block managers that work in a layout."""
    # HCWF copies back, so it knows no collection that spans LUNs.
    return [
        entry
        for entry in engine_entries("managers")
        if not (layout == "striped" and entry.name.startswith("hcwf"))
    ]


def fewest_blocks(manager: Entry, usual: int) -> int:
    """Return the blocks of a small drive that has room for the streams of a manager."""
    few_streams = ("single", "sepgc", "hcwf", "hcwf-swap")
    return usual if manager.name in few_streams else 512
