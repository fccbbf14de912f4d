"""Unchecked places, for tests that reach no drive."""

from __future__ import annotations

from writeamp.drives.devices.writing import Place, place


def unchecked(
    kind: str, name: str, size_bytes: int, sector_bytes: int = 512, *, is_new: bool = False
) -> Place:
    """Return a place as `opened` would."""
    return Place(kind, name, size_bytes, sector_bytes, is_new, place._CHECKED)
