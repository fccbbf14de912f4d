"""Values that smartctl prints for an ATA drive, and the used part of its rated life."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from writeamp.drives.counters.clocks import LocalTime
from writeamp.drives.counters.families import Family
from writeamp.errors import WriteampError

# Largest difference of two values of the used rated life that still agree, in percentage points.
# The values are rounded, and may describe different cell types.
POINTS = 5
_WHOLE_PERCENT = 100
# Normalized wear values of a worn-out drive (1 to 5), and the lowest of a new drive. The values
# count down and stop at 1; 0 means that the drive has no value.
_WORN_OUT, _NEW = range(1, 6), 99
# Power-on hours below which no drive can be worn out, and below which a drive counts as new.
_FEWEST_HOURS_WORN_OUT, _MOST_HOURS_NEW = 500, 2000
# Attributes with the remaining rated life as their normalized value, on drives of any family.
_WEAR_IDS = frozenset({173, 177, 202, 231, 233})
_WEAR_NAME = re.compile(
    r"wear_?(out|level)|life(time)?_(left|remain)|percent_life|remain\w*_life|endurance_remain",
    re.IGNORECASE,
)
_STATISTICS = "device statistics, percentage used"


class Attribute(NamedTuple):
    """SMART attribute: raw value, normalized value, and the name that smartctl prints."""

    raw: int
    normalized: int | None
    name: str


@dataclass(frozen=True)
class AtaDrive:
    """Values that smartctl prints for an ATA drive, from its text or its JSON.

    Attributes:
        source: name of the source.
        model, family, firmware, serial: as printed; the family is from the host's smartctl
            database.
        attributes: attributes by number.
        unread: attributes with a raw value that is not a count.
        capacity_bytes, sector_bytes: capacity and logical sector size, in bytes.
        logical_sectors_written, statistics_used: sectors written and used rated life in percent, of
            device statistics (pages 1 and 7).
        power_on_hours: hours that the drive was on.
        local_time: time at which the drive was read, if the time zone is unknown.
        is_rotating: whether the drive is a hard disk.
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
    """Return SMART attributes by their number.

    Args:
        entries: rows of the drive's table.
        name: file name, for errors.

    Raises:
        WriteampError: an attribute appears twice with different values.
    """
    attributes: dict[int, Attribute] = {}
    for number, attribute in entries:
        if attributes.setdefault(number, attribute).raw != attribute.raw:
            raise WriteampError(
                f"{name}: attribute {number} appears twice, with {attributes[number].raw} and "
                f"{attribute.raw}; a snapshot must be of one drive at one moment"
            )
    return attributes


class UsedLife(NamedTuple):
    """Used rated life in percent, where it was read, and what confirms a value of 100% or more."""

    percent: float | None
    label: str = ""
    confirmed_by: str = ""


def used_life(drive: AtaDrive, family: Family | None, hours: float | None) -> UsedLife:
    """Return the used part of a drive's rated life, in percent.

    Some drives invert device statistics (100 is new), and others report more than 100 without being
    worn out. A value of 100% or more from device statistics is used only if a wear attribute
    confirms it. Below 100%, the family's attribute of rated life takes precedence. Without it, a
    value above 50% is discarded if power-on hours or a wear attribute contradict it.

    Args:
        drive: values that smartctl prints.
        family: family of the drive; None if unknown.
        hours: power-on hours; None if unknown.
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
    """Return whether used life above 50% from device statistics is implausible.

    It is if the drive has too few power-on hours, or if wear attributes show this value as the
    remaining life.
    """
    if statistics <= _WHOLE_PERCENT / 2:
        return False
    if hours is not None and hours < _FEWEST_HOURS_WORN_OUT:
        return True
    left = _left(drive).values()
    is_used = any(abs(_WHOLE_PERCENT - percent - statistics) <= POINTS for percent in left)
    return not is_used and any(abs(percent - statistics) <= POINTS for percent in left)


def _of_worn_out(
    drive: AtaDrive, statistics: float, by_attribute: UsedLife | None, hours: float | None
) -> UsedLife:
    """Return the used rated life of a drive with device statistics of 100% or more."""
    left = _left(drive)
    lowest = min(left, key=lambda number: left[number] or math.inf, default=0)
    is_at_end, source = (
        left.get(lowest) in _WORN_OUT,
        f"attribute {lowest}, normalized {left.get(lowest)}",
    )
    if by_attribute is not None:
        # A normalized value of 1 means that 99% or more of the rated life is used.
        is_at_end = by_attribute.percent in {_WHOLE_PERCENT - 1, _WHOLE_PERCENT}
        source = f"{by_attribute.label} ({by_attribute.percent:g}% used)"
    if is_at_end and (hours is None or hours >= _FEWEST_HOURS_WORN_OUT):
        on = "" if hours is None else f"{hours:,.0f} power-on hours and "
        return UsedLife(statistics, _STATISTICS, f"{on}{source}, confirm it")
    is_young = hours is not None and hours < _MOST_HOURS_NEW
    if statistics == _WHOLE_PERCENT and is_young and min(left.values(), default=0) >= _NEW:
        return by_attribute or UsedLife(0.0, f"device statistics, {statistics:g}% left")
    return by_attribute or UsedLife(None)


def _left(drive: AtaDrive) -> dict[int, int]:
    """Return the remaining rated life in percent by the number of each common wear attribute."""
    return {
        number: attribute.normalized
        for number, attribute in drive.attributes.items()
        if attribute.normalized is not None
        and (number in _WEAR_IDS or _WEAR_NAME.search(attribute.name))
    }


def _by_attribute(drive: AtaDrive, family: Family | None) -> UsedLife | None:
    rule = family.life if family is not None else None
    if rule is None or rule.id not in drive.attributes:
        return None
    percent = _percent_used(rule.holds, drive.attributes[rule.id])
    return None if percent is None else UsedLife(percent, f"attribute {rule.id}, {rule.holds}")


def _percent_used(holds: str, attribute: Attribute) -> float | None:
    """Return the used rated life in percent; None if the value is implausible."""
    if holds == "packed hundredths used":
        used = attribute.raw // 256 % 256 + attribute.raw % 256 / 100
        # Firmware that counts down or packs the value differently has another normalized value, so
        # the two values are compared.
        agrees = attribute.normalized is not None and abs(attribute.normalized - used) <= 1
        return float(attribute.normalized) if attribute.normalized and agrees else None
    value = attribute.raw if holds.startswith("raw") else attribute.normalized
    if value is None or not 0 <= value <= 255:
        return None
    if holds.endswith("used"):
        return float(value)
    return float(_WHOLE_PERCENT - value) if value <= _WHOLE_PERCENT else None
