"""Settling of a drive after writes: it is read until its flash has done what was left to do."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from writeamp.drives.counters.snapshot import Snapshot
from writeamp.drives.devices.source import Reading, Source

# Collection has settled when the flash's counters rise by less than this part of what they rose.
_SETTLED_PART = 0.01


class Settled(NamedTuple):
    """The last reading, whether the flash was at rest by then, and how long that took."""

    reading: Reading
    is_settled: bool
    seconds: float


def settled(
    source: Source,
    before: Reading,
    *,
    every_s: float,
    most_s: float,
    sleep: Callable[[float], bool],
    kept: Callable[[Reading], None] = lambda _reading: None,
) -> Settled:
    """Read a drive until its flash's counters rise no more.

    At rest they rose, from one reading to the next, by no more than a hundredth of what they rose
    since the first, or by one count.

    Args:
        source: of the drive.
        before: the reading before the writes.
        every_s: between readings.
        most_s: in all.
        sleep: waits, and returns whether to go on.
        kept: is given each reading.

    Raises:
        WriteampError: the drive cannot be read.
    """
    began = time.monotonic()
    last = source.read()
    kept(last)
    while sleep(every_s):
        now = source.read()
        kept(now)
        waited_s = time.monotonic() - began
        if _is_at_rest(before.snapshot, last.snapshot, now.snapshot):
            return Settled(now, True, waited_s)
        last = now
        if waited_s + every_s > most_s:
            return Settled(last, False, waited_s)
    return Settled(last, False, time.monotonic() - began)


def _is_at_rest(first: Snapshot, last: Snapshot, now: Snapshot) -> bool:
    since_first = _rise(first, now)
    return all(
        rise <= max(since_first.get(key, 0) * _SETTLED_PART, 1)
        for key, rise in _rise(last, now).items()
    )


def _rise(before: Snapshot, after: Snapshot) -> dict[tuple[str, ...], int]:
    """Return by how much the flash's counters rose, in counts."""
    earlier = {one.key: one.count for one in before.facts.counters if one.side == "flash"}
    return {
        one.key: one.count - earlier[one.key] for one in after.facts.counters if one.key in earlier
    }
