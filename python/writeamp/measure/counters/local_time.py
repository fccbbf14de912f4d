"""Times at which smartctl read a drive, of its JSON and its text."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

from writeamp.measure.counters.document import number, text_of, within

_ZONE_HOURS = {"UTC": 0, "GMT": 0, "CET": 1, "CEST": 2, "EET": 2, "EEST": 3, "MSK": 3, "JST": 9}
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_TIME = re.compile(r"[A-Z][a-z]{2} ([A-Z][a-z]{2}) +(\d+) (\d+):(\d+):(\d+) (\d{4}) (\S+)")


def taken_at(log: dict[str, Any]) -> float | None:
    """Return seconds since 1970 of smartctl's JSON, whose `time_t` some edited documents lack."""
    said = number(within(log, "local_time", "time_t"))
    return seconds_of(text_of(within(log, "local_time", "asctime"))) if said is None else said


def seconds_of(text: str | None) -> float | None:
    """Return seconds since 1970 of a time whose zone is known; None of others."""
    found = _TIME.match(text or "")
    if found is None:
        return None
    month, day, hour, minute, second, year, zone = found.groups()
    shift = re.fullmatch(r"([+-]\d{2})(?::?(\d{2}))?", zone)
    hours = float(shift[1]) if shift else _ZONE_HOURS.get(zone)
    if hours is None or month not in _MONTHS:
        return None
    minutes = float(shift[2] or 0) if shift else 0.0
    sign = -1 if shift and shift[1].startswith("-") else 1
    try:
        local = datetime(
            int(year), _MONTHS.index(month) + 1, int(day), int(hour), int(minute), int(second),
            tzinfo=UTC,
        )  # fmt: skip
        return (local - timedelta(hours=hours, minutes=sign * minutes)).timestamp()
    except (ValueError, OverflowError):
        return None
