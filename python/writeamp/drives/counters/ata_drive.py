"""Values that smartctl prints of an ATA drive, and the rated life that they say is used."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from writeamp.drives.counters.clocks import LocalTime
from writeamp.drives.counters.families import Family
from writeamp.errors import WriteampError

# Points by which two counts of the rated life may differ: they are rounded, and of other cells.
POINTS = 5
_WHOLE_PERCENT = 100
# Normalized values count down to 1 and stop there. 0 is what drives print that have no value.
_WORN_OUT, _NEW = range(1, 6), 99
# Nobody wears a drive out in fewer hours than the first; a new one has fewer than the second.
_FEWEST_HOURS_WORN_OUT, _MOST_HOURS_NEW = 500, 2000
# Attributes whose normalized value is what is left of the rated life, on drives of any family.
_WEAR_IDS = frozenset({173, 177, 202, 231, 233})
_WEAR_NAME = re.compile(
    r"wear_?(out|level)|life(time)?_(left|remain)|percent_life|remain\w*_life|endurance_remain",
    re.IGNORECASE,
)
_STATISTICS = "device statistics, percentage used"


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


class UsedLife(NamedTuple):
    """Per cent of the rated life, None if unknown; its label, and what confirms 100% and more."""

    percent: float | None
    label: str = ""
    confirmed_by: str = ""


def used_life(drive: AtaDrive, family: Family | None, hours: float | None) -> UsedLife:
    """Return the rated life that is used.

    Some drives invert device statistics, so that 100 is new, and others say more than 100 that are
    not worn. 100% and more stands only if a wear attribute confirms it; more than half is unknown
    if hours or a wear attribute contradict it.

    Args:
        drive: as smartctl prints it.
        family: of the drive; None if none is known.
        hours: that it was on; None if unknown.
    """
    statistics, by_attribute = drive.statistics_used, _by_attribute(drive, family)
    if statistics is not None and statistics >= _WHOLE_PERCENT:
        return _of_worn_out(drive, statistics, by_attribute, hours)
    if by_attribute is not None or statistics is None:
        return by_attribute or UsedLife(None)
    if _is_doubtful(drive, statistics, hours):
        return UsedLife(None)
    return UsedLife(statistics, _STATISTICS)


def _is_doubtful(drive: AtaDrive, statistics: float, hours: float | None) -> bool:
    """Whether more than half is used too early, or is what wear attributes say is left."""
    if statistics <= _WHOLE_PERCENT / 2:
        return False
    if hours is not None and hours < _FEWEST_HOURS_WORN_OUT:
        return True
    left = _left(drive).values()
    is_used = any(abs(_WHOLE_PERCENT - one - statistics) <= POINTS for one in left)
    return not is_used and any(abs(one - statistics) <= POINTS for one in left)


def _of_worn_out(
    drive: AtaDrive, statistics: float, by_attribute: UsedLife | None, hours: float | None
) -> UsedLife:
    """Return the rated life used of a drive whose device statistics say 100% or more."""
    left = _left(drive)
    lowest = min(left, key=lambda number: left[number] or math.inf, default=0)
    is_at_end, by = (
        left.get(lowest) in _WORN_OUT,
        f"attribute {lowest}, normalized {left.get(lowest)}",
    )
    if by_attribute is not None:
        # A normalized value of 1 is of 99% and of all that is above.
        is_at_end = by_attribute.percent in {_WHOLE_PERCENT - 1, _WHOLE_PERCENT}
        by = f"{by_attribute.label} ({by_attribute.percent:g}% used)"
    if is_at_end and (hours is None or hours >= _FEWEST_HOURS_WORN_OUT):
        on = "" if hours is None else f"{hours:,.0f} power-on hours and "
        return UsedLife(statistics, _STATISTICS, f"{on}{by}, confirm it")
    is_young = hours is not None and hours < _MOST_HOURS_NEW
    if statistics == _WHOLE_PERCENT and is_young and min(left.values(), default=0) >= _NEW:
        return by_attribute or UsedLife(0.0, f"device statistics, {statistics:g}% left")
    return by_attribute or UsedLife(None)


def _left(drive: AtaDrive) -> dict[int, int]:
    """Return what is left of the rated life by the wear attributes of drives of any family."""
    return {
        number: one.normalized
        for number, one in drive.attributes.items()
        if one.normalized is not None and (number in _WEAR_IDS or _WEAR_NAME.search(one.name))
    }


def _by_attribute(drive: AtaDrive, family: Family | None) -> UsedLife | None:
    rule = family.life if family is not None else None
    if rule is None or rule.id not in drive.attributes:
        return None
    percent = _percent_used(rule.holds, drive.attributes[rule.id])
    return None if percent is None else UsedLife(percent, f"attribute {rule.id}, {rule.holds}")


def _percent_used(holds: str, attribute: Attribute) -> float | None:
    """Return the per cent of the rated life that are used; None if the value cannot be that."""
    if holds == "packed hundredths used":
        used = attribute.raw // 256 % 256 + attribute.raw % 256 / 100
        # On firmware that counts down, or packs otherwise, the normalized value is another.
        agrees = attribute.normalized is not None and abs(attribute.normalized - used) <= 1
        return float(attribute.normalized) if attribute.normalized and agrees else None
    value = attribute.raw if holds.startswith("raw") else attribute.normalized
    if value is None or not 0 <= value <= 255:
        return None
    if holds.endswith("used"):
        return float(value)
    return float(_WHOLE_PERCENT - value) if value <= _WHOLE_PERCENT else None
