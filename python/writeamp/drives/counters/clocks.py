"""Times of snapshots, in known or unknown zones, and the clock that they have in common."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, NamedTuple, Protocol

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
_HOUR_S = 3600.0
# Offsets of zones are from 12 hours behind UTC to 14 ahead of it.
_MOST_BEHIND_H, _MOST_AHEAD_H = 12, 14
# Where an unknown zone makes more of the time between two snapshots, power-on hours tell more.
_CLOSE_ENOUGH = 0.1
# Clocks that were never set begin in 1970, or in 1980. SSDs that say their wear are of later years.
_UNSET_BEFORE_S, _SET_AFTER_S = 11 * 365.25 * 86_400, 35 * 365.25 * 86_400
_UNSET = "a clock was not set, as one snapshot says a year before 1981 and another one after 2004"
# What names of a zone have for winter and summer: PST and PDT, AEST and AEDT, BRT and BRST,
# "Pacific Standard Time" and "Pacific Daylight Time".
_SEASON = re.compile(r"(?<=[A-Z])[SD]?T$| (STANDARD|DAYLIGHT|SUMMER|WINTER)(?= TIME$)")


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


class Dated(Protocol):
    """Facts of a drive that may say when they were read."""

    @property
    def taken_at(self) -> float | None:
        """Seconds since 1970."""

    @property
    def local_time(self) -> LocalTime | None:
        """Time in a zone that is not known."""

    @property
    def power_on_hours(self) -> float | None:
        """Hours that the drive was on."""


@dataclass(frozen=True)
class SnapshotClock:
    """Times of snapshots on a clock of their own.

    Attributes:
        seconds: of each, of which differences alone mean something; empty if unknown.
        slack_s: by which a difference may be off.
        is_powered_on: they are power-on hours.
        doubt: a sentence that says what is not known of the times; "" if all is.
    """

    seconds: tuple[float, ...]
    slack_s: float = 0.0
    is_powered_on: bool = False
    doubt: str = ""


def common_clock(facts: Sequence[Dated]) -> SnapshotClock:
    """Return the clock that facts have in common: of their times, or else of power-on hours.

    Times in one zone are as far apart as they say, also where nobody knows its offset.
    """
    hours = tuple(one.power_on_hours * _HOUR_S for one in facts if one.power_on_hours is not None)
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
    # Hours that have stopped tell less than times in zones that are not known.
    if by_hours is not None and (len(set(hours)) > 1 or not is_ordered):
        return replace(by_hours, doubt=by_times.doubt)
    return by_times if is_ordered else SnapshotClock((), doubt=by_times.doubt)


def _of_times(facts: Sequence[Dated]) -> SnapshotClock | None:
    """Return the clock of the times that facts say; None if one says none."""
    seconds = [
        one.taken_at if one.taken_at is not None else one.local_time and one.local_time.clock_s
        for one in facts
    ]
    known = tuple(one for one in seconds if one is not None)
    if not known or len(known) < len(facts):
        return None
    zones = [
        "UTC" if one.taken_at is not None or one.local_time is None else one.local_time.zone
        for one in facts
    ]
    names = list(dict.fromkeys(zones))
    slack_h = _slack_hours(names)
    doubt = (
        f"zone not known: the times are in {' and '.join(names)}, so that the time between them is "
        f"known to {slack_h} h only"
    )
    return SnapshotClock(known, slack_h * _HOUR_S, doubt=doubt if slack_h else "")


def _slack_hours(zones: Sequence[str]) -> int:
    """Return by how many hours times in these zones may be off from each other."""
    if len(zones) < 2:
        return 0
    if len({_SEASON.sub("", one) for one in zones}) == 1:
        return 1
    is_one_known = "UTC" in zones and len(zones) == 2
    return _MOST_AHEAD_H if is_one_known else _MOST_AHEAD_H + _MOST_BEHIND_H
