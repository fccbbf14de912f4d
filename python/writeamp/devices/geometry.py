"""Geometry of a flash drive: its keys, their valid values and their defaults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from writeamp.errors import WriteampError, unknown
from writeamp.fields.domains import Domain, OneOf, Whole
from writeamp.units.byte_sizes import ByteSize

COUNT_BITS = 32
# Valid counts of blocks and pages, and valid page sizes.
COUNT = Whole(1, 2**COUNT_BITS - 1)
PAGE_BYTES = ByteSize(most=COUNT.most)

LAYOUTS = ("flat", "striped", "striped-per-lun", "static")
# An erase unit is a block of one plane, the blocks with the same index in all planes of a die, or
# the blocks with the same index in all planes of the drive.
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
# Defaults of a profile: one plane, and pages of 4 KiB.
_FLAT = {
    "channels": 1,
    "chips_per_channel": 1,
    "dies_per_chip": 1,
    "planes_per_die": 1,
    "page_bytes": 4096,
    "erase_unit": "block",
}


def complete_geometry(where: str, geometry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the geometry of a table with defaults added; `Device` checks the values.

    Raises:
        WriteampError: an unknown or missing key.
    """
    completed = _FLAT | dict(geometry)
    for key in completed:
        if key not in GEOMETRY:
            raise unknown(f"key in {where}: [geometry]", key, GEOMETRY)
    missing = [key for key in GEOMETRY if key not in completed]
    if missing:
        raise WriteampError(f"{where}: [geometry] lacks {', '.join(missing)}")
    return completed
