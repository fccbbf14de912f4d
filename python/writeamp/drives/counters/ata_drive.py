"""Values that smartctl prints of an ATA drive."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from writeamp.drives.counters.local_time import LocalTime
from writeamp.errors import WriteampError


class Attribute(NamedTuple):
    """An attribute: its raw value, its normalized value, and the name that the host gives it."""

    raw: int
    normalized: int | None
    name: str


@dataclass(frozen=True)
class AtaDrive:
    """Values that smartctl prints of an ATA drive, in whatever form.

    Attributes:
        source: name of the source.
        model, family, firmware, serial: as printed; the family is the host's smartctl's.
        attributes: by identity.
        unread: attributes whose raw value is no count.
        capacity_bytes, sector_bytes: of the drive.
        logical_sectors_written, statistics_used: of device statistics (pages 1 and 7).
        power_on_hours, taken_at: in hours, and in seconds since 1970.
        local_time: when it was read, if the zone is not known.
        is_rotating: it is a hard disk.
    """

    source: str
    model: str | None = None
    family: str | None = None
    firmware: str | None = None
    serial: str | None = None
    attributes: Mapping[int, Attribute] = field(default_factory=dict)
    unread: tuple[int, ...] = ()
    capacity_bytes: int | None = None
    sector_bytes: int = 512
    logical_sectors_written: int | None = None
    statistics_used: float | None = None
    power_on_hours: float | None = None
    taken_at: float | None = None
    local_time: LocalTime | None = None
    is_rotating: bool = False


def attributes_of(entries: Iterable[tuple[int, Attribute]], name: str) -> dict[int, Attribute]:
    """Return the attributes by identity.

    Args:
        entries: of the drive's table.
        name: of the file, for errors.

    Raises:
        WriteampError: two entries of one identity differ.
    """
    found: dict[int, Attribute] = {}
    for number, attribute in entries:
        if found.setdefault(number, attribute).raw != attribute.raw:
            raise WriteampError(
                f"{name}: attribute {number} stands twice, with {found[number].raw} and "
                f"{attribute.raw}; a snapshot is of one drive at one moment"
            )
    return found
