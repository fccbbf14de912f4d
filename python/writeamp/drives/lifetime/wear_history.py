"""Percentage used of a real drive over time, from its snapshots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from writeamp.drives.counters.clocks import SnapshotClock, common_clock
from writeamp.drives.counters.difference import fallen_counter
from writeamp.drives.counters.facts import CounterFacts
from writeamp.drives.counters.snapshot import Snapshot
from writeamp.drives.lifetime.forecast import HOUR_S, powered_share
from writeamp.drives.lifetime.rates import WearReading
from writeamp.errors import WriteampError
from writeamp.units.durations import DAY_S

_NO_TIMES = "the snapshots have no times"
_BY_HOURS = "times are power-on hours; years assume that the drive is always on"
# Some drives count minutes or milliseconds as power-on hours, or pack several counts into the
# value. So greater values are ignored.
_MOST_HOURS = 100 * 8766
_IMPOSSIBLE_HOURS = (
    "power-on hours exceed 100 years: the drive counts another unit, so they are ignored"
)
# Power-on hours may exceed elapsed time by this factor and these seconds, because hours are rounded
# and clocks are adjusted now and then.
_CLOCK_SLACK, _CLOCK_SLACK_S = 1.02, 2 * HOUR_S


@dataclass(frozen=True)
class WearHistory:
    """Snapshots of one drive, and its percentage used over time (the readings).

    Attributes:
        snapshots: in order of time; `taken_at` is on their common clock.
        readings: readings after the last fall of percentage used; empty if their times are unknown.
        is_by_hours: whether times are power-on hours, because some snapshots have no times.
        warnings: sentences about the clock and about readings that are left out.
    """

    snapshots: tuple[Snapshot, ...]
    readings: tuple[WearReading, ...]
    is_by_hours: bool
    warnings: tuple[str, ...]


def history_of(snapshots: Sequence[Snapshot]) -> WearHistory:
    """Return a drive's percentage used over time.

    Args:
        snapshots: snapshots of one drive, each with a percentage used.

    Raises:
        WriteampError: the snapshots have no common clock, or two contradict each other: a counter
            fell, and no serial number shows that both are of one drive.
    """
    aged = [_without_impossible_hours(snapshot) for snapshot in snapshots]
    clock = _clock(aged)
    slack_s = HOUR_S if clock.is_powered_on else clock.slack_s
    timed = sorted(
        (
            (_reading(snapshot.facts, at_s, slack_s), snapshot)
            for snapshot, at_s in zip(aged, clock.seconds, strict=True)
        ),
        key=lambda pair: (pair[0].early_s, pair[0].percent, *_written_so_far(pair[1].facts)),
    )
    ordered = tuple(
        replace(snapshot, facts=replace(snapshot.facts, taken_at=reading.early_s))
        for reading, snapshot in timed
    )
    readings, warnings = _rising([reading for reading, _ in timed])
    warnings += _fallen(ordered)
    if aged != list(snapshots):
        warnings.append(_IMPOSSIBLE_HOURS)
    if clock.is_powered_on:
        warnings = [f"{clock.doubt or _NO_TIMES}: {_BY_HOURS}", *warnings]
        if stood := _stood_still(readings):
            return WearHistory(ordered, (), True, (stood, *warnings))
    else:
        warnings += [clock.doubt] if clock.doubt else []
        warnings += _hours_against_clock(readings)
    return WearHistory(
        ordered, tuple(_one_a_moment(readings)), clock.is_powered_on, tuple(warnings)
    )


def _written_so_far(facts: CounterFacts) -> tuple[float, int]:
    """Return what orders snapshots of one moment: power-on hours, then the sum of the counts."""
    return facts.power_on_hours or 0.0, sum(counter.count for counter in facts.counters)


def _fallen(ordered: Sequence[Snapshot]) -> list[str]:
    """Return a warning if a counter of a drive fell.

    Raises:
        WriteampError: a counter fell, and a snapshot has no serial number.
    """
    for earlier, later in pairwise(ordered):
        evidence = fallen_counter(earlier.facts, later.facts)
        if evidence and not (earlier.facts.serial and later.facts.serial):
            raise WriteampError(f"the remaining life is unknown: {evidence}")
        if evidence:
            return [evidence]
    return []


def _without_impossible_hours(snapshot: Snapshot) -> Snapshot:
    if (snapshot.facts.power_on_hours or 0) <= _MOST_HOURS:
        return snapshot
    return replace(snapshot, facts=replace(snapshot.facts, power_on_hours=None))


def _clock(snapshots: Sequence[Snapshot]) -> SnapshotClock:
    if len(snapshots) == 1:
        return SnapshotClock((snapshots[0].facts.taken_at or 0.0,))
    clock = common_clock([snapshot.facts for snapshot in snapshots])
    if not clock.seconds:
        reason = "some snapshots have no time, and some have no power-on hours"
        raise WriteampError(
            f"{clock.doubt or reason}; `measure save` and `measure watch` store the time"
        )
    return clock


def _reading(facts: CounterFacts, at_s: float, slack_s: float) -> WearReading:
    percent = float(facts.percentage_used or 0.0)
    return WearReading(percent, float(at_s), float(at_s) + slack_s, facts.power_on_hours)


def _rising(readings: list[WearReading]) -> tuple[list[WearReading], list[str]]:
    """Return the readings after the last fall of percentage used, and a warning if it fell.

    If percentage used was reset, power-on hours do not match its age.
    """
    falls = [
        at for at, (earlier, later) in enumerate(pairwise(readings), 1)
        if later.percent < earlier.percent
    ]  # fmt: skip
    if not falls:
        return readings, []
    earlier, later = readings[falls[-1] - 1 : falls[-1] + 1]
    warning = (
        f"percentage used fell from {earlier.percent:g}% to {later.percent:g}%: it was reset (by "
        "firmware or a vendor's tool), another drive was read, or the value is the remaining life; "
        "earlier readings are ignored"
    )
    return [reading._replace(hours=None) for reading in readings[falls[-1] :]], [warning]


def _stood_still(readings: Sequence[WearReading]) -> str:
    """Return the reason why power-on hours cannot be used as a clock, or "" if they can."""
    for earlier, later in pairwise(readings):
        if earlier.early_s == later.early_s and earlier.percent < later.percent:
            return (
                f"power-on hours stay at {earlier.early_s / HOUR_S:,.0f} while percentage used "
                f"rises from {earlier.percent:g}% to {later.percent:g}%: without the times of the "
                "readings the rate of wear is unknown (`measure save` stores the time)"
            )
    return ""


def _hours_against_clock(readings: Sequence[WearReading]) -> list[str]:
    """Return a warning if power-on hours have stopped, or rise faster than the clock."""
    first, last = readings[0], readings[-1]
    if first.hours is None or last.hours is None:
        return []
    clock_s, hours_s = last.early_s - first.early_s, (last.hours - first.hours) * HOUR_S
    if hours_s > clock_s * _CLOCK_SLACK + _CLOCK_SLACK_S:
        return [
            f"power-on hours rose by {hours_s / HOUR_S:,.0f} within {clock_s / HOUR_S:,.4g} hours "
            "of the clock: one of the two is wrong; the clock is used"
        ]
    if powered_share(readings) is None:
        return [
            f"power-on hours stopped at {last.hours:,.0f}, or were reset, within the "
            f"{clock_s / DAY_S:,.4g} days of the history: the clock is used, and "
            "the rate of the life so far is not used"
        ]
    return []


def _one_a_moment(readings: Sequence[WearReading]) -> list[WearReading]:
    """Return the readings with at most one per moment.

    Raises:
        WriteampError: two readings of the same moment contradict each other.
    """
    distinct = list(readings[:1])
    for reading in readings[1:]:
        if reading.early_s > distinct[-1].early_s:
            distinct.append(reading)
        elif reading.percent - distinct[-1].percent > 1:
            raise WriteampError(
                f"two snapshots of the same time have {distinct[-1].percent:g}% and "
                f"{reading.percent:g}% used. Pass one of them"
            )
        else:
            distinct[-1] = reading
    return distinct
