"""Intervals of a drive's history, each long enough for its counters to show WA."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from writeamp.drives.counters.answer import DriveCounters, interval_answer
from writeamp.drives.counters.snapshot import Snapshot

# Snapshots are put together until the bounds of WA are this close, relative to it.
_CLOSE_ENOUGH = 0.1
# Raw flash and what the user gets of it are a tenth apart or more, and both bound an estimate.
_CLOSE_FOR_ESTIMATE = 0.25
# Checks that say that a drive's counters do not go on from one snapshot to the next.
_BREAKS = frozenset({"no reset", "same drive", "same firmware"})


class HistoryInterval(NamedTuple):
    """WA of a drive between two of its snapshots.

    Attributes:
        begins_at, ends_at: seconds since 1970.
        answer: of the interval.
        is_break: the counters do not go on here: they were cleared, or another firmware counts.
    """

    begins_at: float
    ends_at: float
    answer: DriveCounters
    is_break: bool


def intervals_of(snapshots: Sequence[Snapshot]) -> Iterator[HistoryInterval]:
    """Yield the intervals of one drive's snapshots, in order of time.

    Successive snapshots are put together until the bounds of WA are within 10% of it; the last
    interval may be wider. A cleared counter or another firmware ends an interval, and is one of its
    own.

    Args:
        snapshots: of one drive, in order of time, each with `taken_at`.
    """
    start = 0
    for place in range(1, len(snapshots)):
        step = interval_answer(snapshots[place - 1], snapshots[place])
        if _is_break(step):
            if start < place - 1:
                yield _interval(snapshots, start, place - 1)
            yield _interval(snapshots, place - 1, place, is_break=True)
            start = place
            continue
        answer = step if start == place - 1 else interval_answer(snapshots[start], snapshots[place])
        if _is_close(answer) or place == len(snapshots) - 1:
            yield _interval(snapshots, start, place)
            start = place


def _is_break(answer: DriveCounters) -> bool:
    return any(one.name in _BREAKS and one.verdict in {"fail", "doubt"} for one in answer.checks)


def _is_close(answer: DriveCounters) -> bool:
    if answer.kind == "lower-bound" and answer.host is not None:
        # Its bound is as good as the amounts are known, of which that of the host is at hand.
        return answer.host.high - answer.host.low <= _CLOSE_ENOUGH * answer.host.nominal
    if answer.ci is None:
        return False
    low, high = answer.ci
    if answer.wa is None:
        return high - low <= _CLOSE_FOR_ESTIMATE * high
    return high - low <= _CLOSE_ENOUGH * answer.wa


def _interval(
    snapshots: Sequence[Snapshot], start: int, end: int, *, is_break: bool = False
) -> HistoryInterval:
    first, last = snapshots[start], snapshots[end]
    return HistoryInterval(
        first.facts.taken_at or 0.0,
        last.facts.taken_at or 0.0,
        interval_answer(first, last),
        is_break,
    )
