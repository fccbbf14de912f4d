"""Clock that several snapshots of a drive have in common, and how well it tells times apart."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from writeamp.drives.counters.local_time import LocalTime

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
class Clock:
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


def common_clock(facts: Sequence[Dated]) -> Clock:
    """Return the clock that facts have in common: of their times, or else of power-on hours.

    Times in one zone are as far apart as they say, also where nobody knows its offset.
    """
    hours = tuple(one.power_on_hours * _HOUR_S for one in facts if one.power_on_hours is not None)
    by_hours = Clock(hours, is_powered_on=True) if len(hours) == len(facts) else None
    by_times = _of_times(facts)
    if by_times is None:
        return by_hours or Clock(())
    if min(by_times.seconds) < _UNSET_BEFORE_S and max(by_times.seconds) > _SET_AFTER_S:
        return replace(by_hours or Clock(()), doubt=_UNSET)
    span_s = max(by_times.seconds) - min(by_times.seconds)
    if by_times.slack_s <= _CLOSE_ENOUGH * span_s:
        return by_times
    is_ordered = by_times.slack_s < span_s
    # Hours that have stopped tell less than times in zones that are not known.
    if by_hours is not None and (len(set(hours)) > 1 or not is_ordered):
        return replace(by_hours, doubt=by_times.doubt)
    return by_times if is_ordered else Clock((), doubt=by_times.doubt)


def _of_times(facts: Sequence[Dated]) -> Clock | None:
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
    return Clock(known, slack_h * _HOUR_S, doubt=doubt if slack_h else "")


def _slack_hours(zones: Sequence[str]) -> int:
    """Return by how many hours times in these zones may be off from each other."""
    if len(zones) < 2:
        return 0
    if len({_SEASON.sub("", one) for one in zones}) == 1:
        return 1
    is_one_known = "UTC" in zones and len(zones) == 2
    return _MOST_AHEAD_H if is_one_known else _MOST_AHEAD_H + _MOST_BEHIND_H
