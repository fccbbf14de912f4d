"""Geometry of a flash drive: its keys, their domains, and what a profile need not say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from writeamp.errors import WriteampError, unknown
from writeamp.fields.domains import Domain, OneOf, Whole
from writeamp.units.byte_sizes import ByteSize

COUNT_BITS = 32
# What blocks and pages may be, and the bytes of a page.
COUNT = Whole(1, 2**COUNT_BITS - 1)
PAGE_BYTES = ByteSize(most=COUNT.most)

LAYOUTS = ("flat", "striped", "striped-per-lun", "static")
# What one erase clears: a block of one plane, those of one index in all planes of a die, or in all
# planes of the drive.
_ERASE_UNITS = ("block", "multi-plane", "superblock")

GEOMETRY: dict[str, Domain] = {
    "channels": COUNT,
    "chips_per_channel": COUNT,
    "dies_per_chip": COUNT,
    "planes_per_die": COUNT,
    "blocks_per_plane": COUNT,
    "pages_per_block": COUNT,
    "page_bytes": PAGE_BYTES,
    "erase_unit": OneOf(_ERASE_UNITS),
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


def complete_geometry(where: str, geometry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the geometry that a table says; `Device` checks the values.

    Raises:
        WriteampError: a key is unknown or missing.
    """
    found = _FLAT | dict(geometry)
    for key in found:
        if key not in GEOMETRY:
            raise unknown(f"key in {where}: [geometry]", key, GEOMETRY)
    missing = [key for key in GEOMETRY if key not in found]
    if missing:
        raise WriteampError(f"{where}: [geometry] lacks {', '.join(missing)}")
    return found
