"""History of a drive: its readings of percentage used in order of time, and their clock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from writeamp.drives.counters.clocks import Clock, common_clock
from writeamp.drives.counters.facts import Facts
from writeamp.drives.counters.snapshot import Snapshot
from writeamp.drives.lifetime.forecast import DAY_S, HOUR_S, powered_share
from writeamp.drives.lifetime.rates import Reading
from writeamp.errors import WriteampError

_NO_TIMES = "the snapshots do not say when they were taken"
_BY_HOURS = "times are power-on hours, and years assume a drive that is never off"
# Some drives count minutes or milliseconds, or pack several counts into one value.
_MOST_HOURS = 100 * 8766
_IMPOSSIBLE_HOURS = (
    "power-on hours exceed 100 years: the drive counts something else, so they are ignored"
)
# Hours are whole numbers, and clocks are set now and then.
_CLOCK_SLACK, _CLOCK_SLACK_S = 1.02, 2 * HOUR_S


@dataclass(frozen=True)
class History:
    """Readings of one drive.

    Attributes:
        snapshots: in order of time; `taken_at` is of their common clock.
        readings: of the latest snapshots, whose percentage used does not fall; empty if unknown.
        is_by_hours: times are power-on hours, as not all snapshots say when they were taken.
        warnings: sentences about the clock, and about readings that are left out.
    """

    snapshots: tuple[Snapshot, ...]
    readings: tuple[Reading, ...]
    is_by_hours: bool
    warnings: tuple[str, ...]


def history_of(snapshots: Sequence[Snapshot]) -> History:
    """Return the history of a drive.

    Args:
        snapshots: of one drive, each with a percentage used.

    Raises:
        WriteampError: they have no common clock, or two contradict each other.
    """
    aged = [_without_impossible_hours(one) for one in snapshots]
    clock = _clock(aged)
    slack_s = HOUR_S if clock.is_powered_on else clock.slack_s
    timed = sorted(
        (
            (_reading(one.facts, at_s, slack_s), one)
            for one, at_s in zip(aged, clock.seconds, strict=True)
        ),
        key=lambda pair: (pair[0].early_s, pair[0].percent),
    )
    ordered = tuple(
        replace(one, facts=replace(one.facts, taken_at=reading.early_s)) for reading, one in timed
    )
    readings, warnings = _rising([reading for reading, _ in timed])
    if aged != list(snapshots):
        warnings.append(_IMPOSSIBLE_HOURS)
    if clock.is_powered_on:
        warnings = [f"{clock.doubt or _NO_TIMES}: {_BY_HOURS}", *warnings]
        if stood := _stood_still(readings):
            return History(ordered, (), True, (stood, *warnings))
    else:
        warnings += [clock.doubt] if clock.doubt else []
        warnings += _hours_against_clock(readings)
    return History(ordered, tuple(_one_a_moment(readings)), clock.is_powered_on, tuple(warnings))


def _without_impossible_hours(snapshot: Snapshot) -> Snapshot:
    if (snapshot.facts.power_on_hours or 0) <= _MOST_HOURS:
        return snapshot
    return replace(snapshot, facts=replace(snapshot.facts, power_on_hours=None))


def _clock(snapshots: Sequence[Snapshot]) -> Clock:
    if len(snapshots) == 1:
        return Clock((snapshots[0].facts.taken_at or 0.0,))
    clock = common_clock([one.facts for one in snapshots])
    if not clock.seconds:
        said = "the snapshots say neither when they were taken nor the power-on hours, all of them"
        raise WriteampError(
            f"{clock.doubt or said}; `measure save` and `measure watch` keep the time"
        )
    return clock


def _reading(facts: Facts, at_s: float, slack_s: float) -> Reading:
    percent = float(facts.percentage_used or 0.0)
    return Reading(percent, float(at_s), float(at_s) + slack_s, facts.power_on_hours)


def _rising(readings: list[Reading]) -> tuple[list[Reading], list[str]]:
    """Return the readings after the last fall, and a warning if there is one.

    If percentage used was reset, power-on hours are not the age of its count.
    """
    falls = [
        at for at, (before, after) in enumerate(pairwise(readings), 1)
        if after.percent < before.percent
    ]  # fmt: skip
    if not falls:
        return readings, []
    before, after = readings[falls[-1] - 1 : falls[-1] + 1]
    warning = (
        f"percentage used fell from {before.percent:g}% to {after.percent:g}%: it was reset (by "
        "firmware or a vendor's tool), another drive was read, or the value is what is left; "
        "earlier readings are ignored"
    )
    return [reading._replace(hours=None) for reading in readings[falls[-1] :]], [warning]


def _stood_still(readings: Sequence[Reading]) -> str:
    """Return why power-on hours are no clock; "" if they may be one."""
    for before, after in pairwise(readings):
        if before.early_s == after.early_s and before.percent < after.percent:
            return (
                f"power-on hours stay at {before.early_s / HOUR_S:,.0f} while percentage used "
                f"rises from {before.percent:g}% to {after.percent:g}%: without the times of the "
                "readings the rate is unknown (`measure save` keeps the time)"
            )
    return ""


def _hours_against_clock(readings: Sequence[Reading]) -> list[str]:
    """Return a warning if power-on hours have stopped, or rise by more than the clock."""
    first, last = readings[0], readings[-1]
    if first.hours is None or last.hours is None:
        return []
    clock_s, hours_s = last.early_s - first.early_s, (last.hours - first.hours) * HOUR_S
    if hours_s > clock_s * _CLOCK_SLACK + _CLOCK_SLACK_S:
        return [
            f"power-on hours rose by {hours_s / HOUR_S:,.0f} within {clock_s / HOUR_S:,.4g} hours "
            "of the clock: one of the two is wrong; the times are those of the clock"
        ]
    if powered_share(readings) is None:
        return [
            f"power-on hours stopped at {last.hours:,.0f}, or were reset, within the "
            f"{clock_s / DAY_S:,.4g} days of the history: the times are those of the clock, and "
            "the rate of the life so far is not used"
        ]
    return []


def _one_a_moment(readings: Sequence[Reading]) -> list[Reading]:
    """Return readings without those that another of the same moment replaces.

    Raises:
        WriteampError: two readings of one moment contradict each other.
    """
    kept = list(readings[:1])
    for reading in readings[1:]:
        if reading.early_s > kept[-1].early_s:
            kept.append(reading)
        elif reading.percent - kept[-1].percent > 1:
            raise WriteampError(
                f"two snapshots of the same time say {kept[-1].percent:g}% and "
                f"{reading.percent:g}% used; give one of them"
            )
        else:
            kept[-1] = reading
    return kept
