"""Times at which smartctl read a drive, in zones that are known or not."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any, NamedTuple

from writeamp.drives.counters.document import number, text_of, within

# Abbreviations that one offset has. Others are in use for several (CST, IST), or in few places.
_ZONE_HOURS = {
    "UTC": 0, "GMT": 0, "CET": 1, "CEST": 2, "EET": 2, "EEST": 3, "MSK": 3, "JST": 9,
    "COORDINATED UNIVERSAL TIME": 0,
}  # fmt: skip
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
# Windows writes names of zones out, with spaces.
_TIME = re.compile(
    r"[A-Z][a-z]{2} +([A-Z][a-z]{2}) +(\d{1,2}) +(\d+):(\d+):(\d+) +(\d{4}) +(\S.{0,99})"
)
_OFFSET = re.compile(r"([+-])(\d{2})(?::?(\d{2}))?")


class LocalTime(NamedTuple):
    """Time in a zone whose offset is not known: seconds since 1970 by its clock, and its name."""

    clock_s: float
    zone: str


def taken_at(log: dict[str, Any]) -> float | None:
    """Return seconds since 1970 of smartctl's JSON, whose `time_t` some edited documents lack."""
    said = number(within(log, "local_time", "time_t"))
    if said is not None:
        return said
    local = _clock(log)
    offset_s = None if local is None else _offset_s(local.zone)
    return None if local is None or offset_s is None else local.clock_s - offset_s


def local_time(log: dict[str, Any]) -> LocalTime | None:
    """Return the time of smartctl's JSON by its own clock; None if it is known without one."""
    return None if taken_at(log) is not None else _clock(log)


def _clock(log: dict[str, Any]) -> LocalTime | None:
    found = _TIME.match(text_of(within(log, "local_time", "asctime")) or "")
    if found is None or found[1] not in _MONTHS:
        return None
    month, (day, hour, minute, second, year) = _MONTHS.index(found[1]) + 1, found.groups()[1:6]
    try:
        at = datetime(int(year), month, int(day), int(hour), int(minute), int(second), tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
    return LocalTime(at.timestamp(), " ".join(found[7].split()).upper())


def _offset_s(zone: str) -> float | None:
    """Return by how much a zone is ahead of UTC; None if that is not known."""
    if (found := _OFFSET.fullmatch(zone)) is not None:
        seconds = int(found[2]) * 3600.0 + int(found[3] or 0) * 60
        return -seconds if found[1] == "-" else seconds
    return _ZONE_HOURS[zone] * 3600.0 if zone in _ZONE_HOURS else None
