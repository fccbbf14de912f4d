"""Times of snapshots in known or unknown time zones, and their common clock."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, NamedTuple, Protocol

from writeamp.drives.counters.document import number, text_of, within

# Time zones with a single UTC offset, in hours. Other abbreviations have several meanings (CST,
# IST) or are rare.
_ZONE_HOURS = {
    "UTC": 0, "GMT": 0, "CET": 1, "CEST": 2, "EET": 2, "EEST": 3, "MSK": 3, "JST": 9,
    "COORDINATED UNIVERSAL TIME": 0,
}  # fmt: skip
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
# Windows prints the full names of time zones, with spaces.
_TIME = re.compile(
    r"[A-Z][a-z]{2} +([A-Z][a-z]{2}) +(\d{1,2}) +(\d+):(\d+):(\d+) +(\d{4}) +(\S.{0,99})"
)
_OFFSET = re.compile(r"([+-])(\d{2})(?::?(\d{2}))?")
_HOUR_S = 3600.0
# UTC offsets of time zones range from -12 h to +14 h.
_MOST_BEHIND_H, _MOST_AHEAD_H = 12, 14
# If an unknown time zone adds an error above this share of the interval, power-on hours are used
# instead.
_CLOSE_ENOUGH = 0.1
# Times before the first limit are from a clock that was never set: it begins in 1970 or 1980. Times
# after the second are from a clock that was set. Both are in seconds since 1970. SSDs that report
# their wear are newer than the second limit.
_UNSET_BEFORE_S, _SET_AFTER_S = 11 * 365.25 * 86_400, 35 * 365.25 * 86_400
_UNSET = "a clock was not set: one snapshot is from before 1981 and another from after 2004"
# Part of a zone name that changes between winter and summer: PST and PDT, AEST and AEDT, BRT and
# BRST, "Pacific Standard Time" and "Pacific Daylight Time".
_SEASON = re.compile(r"(?<=[A-Z])[SD]?T$| (STANDARD|DAYLIGHT|SUMMER|WINTER)(?= TIME$)")


class LocalTime(NamedTuple):
    """Time in a zone with an unknown offset: seconds since 1970 by its clock, and its name."""

    clock_s: float
    zone: str


def taken_at(log: dict[str, Any]) -> float | None:
    """Return the time of smartctl's JSON in seconds since 1970, or None."""
    time_t = number(within(log, "local_time", "time_t"))
    if time_t is not None:
        return time_t
    local = _clock(log)
    offset_s = None if local is None else _offset_s(local.zone)
    return None if local is None or offset_s is None else local.clock_s - offset_s


def local_time(log: dict[str, Any]) -> LocalTime | None:
    """Return the local time of smartctl's JSON; None if the UTC time is known."""
    return None if taken_at(log) is not None else _clock(log)


def _clock(log: dict[str, Any]) -> LocalTime | None:
    match = _TIME.match(text_of(within(log, "local_time", "asctime")) or "")
    if match is None or match[1] not in _MONTHS:
        return None
    month, (day, hour, minute, second, year) = _MONTHS.index(match[1]) + 1, match.groups()[1:6]
    try:
        at = datetime(int(year), month, int(day), int(hour), int(minute), int(second), tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
    return LocalTime(at.timestamp(), " ".join(match[7].split()).upper())


def _offset_s(zone: str) -> float | None:
    """Return the UTC offset of a zone in seconds; None if unknown."""
    if (match := _OFFSET.fullmatch(zone)) is not None:
        seconds = int(match[2]) * 3600.0 + int(match[3] or 0) * 60
        return -seconds if match[1] == "-" else seconds
    return _ZONE_HOURS[zone] * 3600.0 if zone in _ZONE_HOURS else None


class Dated(Protocol):
    """Facts of a drive that may have the time at which they were read."""

    @property
    def taken_at(self) -> float | None:
        """Seconds since 1970."""

    @property
    def local_time(self) -> LocalTime | None:
        """Time in a zone with an unknown offset."""

    @property
    def power_on_hours(self) -> float | None:
        """Power-on hours of the drive."""


@dataclass(frozen=True)
class SnapshotClock:
    """Times of snapshots on a common clock.

    Attributes:
        seconds: time of each snapshot, in seconds from an arbitrary origin; empty if unknown.
        slack_s: uncertainty of the difference between two of the times, in seconds.
        is_powered_on: whether the times are power-on hours.
        doubt: sentence about the uncertainty of the times, or "".
    """

    seconds: tuple[float, ...]
    slack_s: float = 0.0
    is_powered_on: bool = False
    doubt: str = ""


def common_clock(facts: Sequence[Dated]) -> SnapshotClock:
    """Return the common clock of the facts: their times, or otherwise their power-on hours.

    Differences of times in one zone are exact even if its offset is unknown.
    """
    hours = tuple(
        drive_facts.power_on_hours * _HOUR_S
        for drive_facts in facts
        if drive_facts.power_on_hours is not None
    )
    by_hours = SnapshotClock(hours, is_powered_on=True) if len(hours) == len(facts) else None
    by_times = _of_times(facts)
    if by_times is None:
        return by_hours or SnapshotClock(())
    if min(by_times.seconds) < _UNSET_BEFORE_S and max(by_times.seconds) > _SET_AFTER_S:
        return replace(by_hours or SnapshotClock(()), doubt=_UNSET)
    span_s = max(by_times.seconds) - min(by_times.seconds)
    if by_times.slack_s <= _CLOSE_ENOUGH * span_s:
        return by_times
    is_ordered = by_times.slack_s < span_s
    # Power-on hours are not used if they are equal in all snapshots, as they then give no interval.
    if by_hours is not None and (len(set(hours)) > 1 or not is_ordered):
        return replace(by_hours, doubt=by_times.doubt)
    return by_times if is_ordered else SnapshotClock((), doubt=by_times.doubt)


def _of_times(facts: Sequence[Dated]) -> SnapshotClock | None:
    """Return the clock of the facts' times; None if a time is missing."""
    seconds = [
        drive_facts.taken_at
        if drive_facts.taken_at is not None
        else drive_facts.local_time and drive_facts.local_time.clock_s
        for drive_facts in facts
    ]
    times = tuple(time_s for time_s in seconds if time_s is not None)
    if not times or len(times) < len(facts):
        return None
    zones = [
        "UTC"
        if drive_facts.taken_at is not None or drive_facts.local_time is None
        else drive_facts.local_time.zone
        for drive_facts in facts
    ]
    names = list(dict.fromkeys(zones))
    slack_h = _slack_hours(names)
    doubt = (
        f"unknown time zone: the times are in {' and '.join(names)}, so the interval is uncertain "
        f"by {slack_h} h"
    )
    return SnapshotClock(times, slack_h * _HOUR_S, doubt=doubt if slack_h else "")


def _slack_hours(zones: Sequence[str]) -> int:
    """Return the largest error, in hours, of a difference between local times of these zones."""
    if len(zones) < 2:
        return 0
    if len({_SEASON.sub("", zone) for zone in zones}) == 1:
        return 1
    is_one_known = "UTC" in zones and len(zones) == 2
    return _MOST_AHEAD_H if is_one_known else _MOST_AHEAD_H + _MOST_BEHIND_H
