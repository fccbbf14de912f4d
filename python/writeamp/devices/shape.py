"""Shapes of flash drives by their size in blocks or pages."""

from __future__ import annotations

import math
from dataclasses import replace

from writeamp.devices.drive import Device
from writeamp.devices.geometry import COUNT_BITS
from writeamp.errors import RefusedError, WriteampError
from writeamp.units.ratios import logical_of, physical_of


def with_blocks(shape: Device, blocks: int) -> Device:
    """Return the drive with so many erase units, its host's size still to be said."""
    dies = shape.planes // shape.planes_per_die
    units, of_what = {
        "block": (shape.planes, "planes"),
        "multi-plane": (dies, "dies"),
        "superblock": (1, "drives"),
    }[shape.erase_unit]
    if blocks % units:
        raise WriteampError(
            f"blocks is {blocks}; it must be a multiple of {units}, the {of_what} of {shape.name}"
        )
    return replace(shape, blocks_per_plane=blocks // units)


def filled(shape: Device, op: float) -> Device:
    """Return the drive with the share of its pages that op leaves to the host."""
    physical_pages = shape.physical_pages
    logical_pages = round(logical_of(physical_pages, op))
    if logical_pages < 1:
        raise RefusedError(
            f"op {op:.3g} of {physical_pages} physical pages leaves no logical page; use more "
            "blocks or a smaller op"
        )
    return _with_spare_pages(replace(shape, logical_pages=logical_pages))


def sized_by_host(shape: Device, logical_pages: int, op: float) -> Device:
    """Return the smallest drive of that shape with at least this op."""
    per_block_index = shape.planes * shape.pages_per_block
    blocks_per_plane = whole_units(needed_pages(logical_pages, op), per_block_index)
    return _with_spare_pages(
        replace(shape, blocks_per_plane=blocks_per_plane, logical_pages=logical_pages)
    )


def needed_pages(logical_pages: int, op: float) -> float:
    """Return the physical pages that so many logical pages need, rounded nowhere.

    Raises:
        WriteampError: they are more than the engine counts.
    """
    found = physical_of(logical_pages, op)
    if found >= 2**COUNT_BITS:
        raise WriteampError(
            f"{logical_pages} logical pages with op {op:.4g} need more than the "
            f"{2**COUNT_BITS - 1} physical pages that a {COUNT_BITS}-bit page number holds"
        )
    return found


def whole_units(pages: float, unit: int) -> int:
    """Return the number of whole units that hold so many pages."""
    # 1000·1.1 is 1100.0000000000002 in floating point: a hair above a whole number is that number.
    return math.ceil(pages / unit * (1 - 1e-12))


def _with_spare_pages(found: Device) -> Device:
    if found.logical_pages >= found.physical_pages:
        raise RefusedError(
            f"{found.logical_pages} logical pages on {found.physical_pages} physical pages leave "
            "no over-provisioning; use a larger op or more blocks"
        )
    return found
