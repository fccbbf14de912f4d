"""Shape of a flash drive: its keys, their domains, and its size in blocks or pages."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from writeamp.devices.drive import COUNT_BITS, Device
from writeamp.domains import OneOf, Whole
from writeamp.errors import RefusedError, WriteampError, unknown
from writeamp.units.byte_sizes import ByteSize
from writeamp.units.ratios import logical_of, physical_of

LAYOUTS = ("flat", "striped", "striped-per-lun", "static")

GEOMETRY: dict[str, type] = {
    "channels": int,
    "chips_per_channel": int,
    "dies_per_chip": int,
    "planes_per_die": int,
    "blocks_per_plane": int,
    "pages_per_block": int,
    "page_bytes": int,
    "erase_unit": str,
}
# What a profile need not say: a drive of one plane with 4 KiB pages.
_FLAT = {
    "channels": 1,
    "chips_per_channel": 1,
    "dies_per_chip": 1,
    "planes_per_die": 1,
    "page_bytes": 4096,
    "erase_unit": "block",
}
# What one erase clears: a block of one plane, those of one index in all planes of a die, or in all
# planes of the drive.
_ERASE_UNITS = ("block", "multi-plane", "superblock")

# What blocks and pages may be, and the bytes of a page.
COUNT = Whole(1, 2**COUNT_BITS - 1)
PAGE_BYTES = ByteSize(most=COUNT.most)


def checked_geometry(where: str, geometry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the complete shape that a table says.

    Raises:
        WriteampError: a key is missing, or a value outside its domain.
    """
    found = _FLAT | dict(geometry)
    missing = [key for key in GEOMETRY if key not in found]
    if missing:
        raise WriteampError(f"{where}: [geometry] lacks {', '.join(missing)}")
    found["page_bytes"] = PAGE_BYTES.check(f"{where}: page_bytes", found["page_bytes"])
    for key, kind in GEOMETRY.items():
        if kind is int:
            COUNT.check(f"{where}: {key}", found[key])
    if found["erase_unit"] not in _ERASE_UNITS:
        raise unknown(f"erase_unit in {where}", str(found["erase_unit"]), _ERASE_UNITS)
    return found


def checked_layout(name: str) -> str:
    """Return the name of a layout."""
    return OneOf(LAYOUTS).check("layout", name)


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
    physical_pages = shape.geometry.physical_pages
    return _checked(replace(shape, logical_pages=round(logical_of(physical_pages, op))))


def sized_by_host(shape: Device, logical_pages: int, op: float) -> Device:
    """Return the smallest drive of that shape with at least this op."""
    per_block_index = shape.planes * shape.pages_per_block
    blocks_per_plane = whole_units(needed_pages(logical_pages, op), per_block_index)
    return _checked(replace(shape, blocks_per_plane=blocks_per_plane, logical_pages=logical_pages))


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


def _checked(found: Device) -> Device:
    physical_pages = found.geometry.physical_pages  # refuses shapes that do not fit
    if found.logical_pages < 1:
        raise RefusedError(
            f"fill {found.fill:.3g} of {physical_pages} physical pages leaves no logical page; "
            "use more blocks or a larger fill"
        )
    if found.logical_pages >= physical_pages:
        raise RefusedError(
            f"{found.logical_pages} logical pages on {physical_pages} physical pages leave no "
            "over-provisioning; use a larger op or more blocks"
        )
    return found
