"""Life of a real drive from its snapshots: percentage used at known times, and its rate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from statistics import median
from typing import Any

from writeamp.drives.counters.answer import interval_answer, life_answer
from writeamp.drives.counters.clocks import SnapshotClock, common_clock
from writeamp.drives.counters.facts import CounterFacts
from writeamp.drives.counters.snapshot import Snapshot
from writeamp.drives.lifetime.forecast import (
    ALWAYS_ON,
    DAY_S,
    HOUR_S,
    LIFE_SO_FAR,
    WHOLE_PERCENT,
    YEAR_S,
    WearForecast,
    backtest_of,
    latest_forecast,
    powered_share,
)
from writeamp.drives.lifetime.rates import WearReading
from writeamp.drives.lifetime.result import UNKNOWN, DriveLifetime
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
# A log has one byte for percentage used, which stays at its highest value.
_MOST_PERCENT = 255
# Rates of the two halves of a history that differ by more than this are another use of the drive.
_CHANGED = 1.5
_FEWEST_FOR_TREND = 8
# The host's rate is of so many snapshots at most, as all pairs of them are taken.
_MOST_POINTS = 300


@dataclass(frozen=True)
class WearHistory:
    """Readings of one drive.

    Attributes:
        snapshots: in order of time; `taken_at` is of their common clock.
        readings: of the latest snapshots, whose percentage used does not fall; empty if unknown.
        is_by_hours: times are power-on hours, as not all snapshots say when they were taken.
        warnings: sentences about the clock, and about readings that are left out.
    """

    snapshots: tuple[Snapshot, ...]
    readings: tuple[WearReading, ...]
    is_by_hours: bool
    warnings: tuple[str, ...]


def history_of(snapshots: Sequence[Snapshot]) -> WearHistory:
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
            return WearHistory(ordered, (), True, (stood, *warnings))
    else:
        warnings += [clock.doubt] if clock.doubt else []
        warnings += _hours_against_clock(readings)
    return WearHistory(
        ordered, tuple(_one_a_moment(readings)), clock.is_powered_on, tuple(warnings)
    )


def _without_impossible_hours(snapshot: Snapshot) -> Snapshot:
    if (snapshot.facts.power_on_hours or 0) <= _MOST_HOURS:
        return snapshot
    return replace(snapshot, facts=replace(snapshot.facts, power_on_hours=None))


def _clock(snapshots: Sequence[Snapshot]) -> SnapshotClock:
    if len(snapshots) == 1:
        return SnapshotClock((snapshots[0].facts.taken_at or 0.0,))
    clock = common_clock([one.facts for one in snapshots])
    if not clock.seconds:
        said = "the snapshots say neither when they were taken nor the power-on hours, all of them"
        raise WriteampError(
            f"{clock.doubt or said}; `measure save` and `measure watch` keep the time"
        )
    return clock


def _reading(facts: CounterFacts, at_s: float, slack_s: float) -> WearReading:
    percent = float(facts.percentage_used or 0.0)
    return WearReading(percent, float(at_s), float(at_s) + slack_s, facts.power_on_hours)


def _rising(readings: list[WearReading]) -> tuple[list[WearReading], list[str]]:
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


def _stood_still(readings: Sequence[WearReading]) -> str:
    """Return why power-on hours are no clock; "" if they may be one."""
    for before, after in pairwise(readings):
        if before.early_s == after.early_s and before.percent < after.percent:
            return (
                f"power-on hours stay at {before.early_s / HOUR_S:,.0f} while percentage used "
                f"rises from {before.percent:g}% to {after.percent:g}%: without the times of the "
                "readings the rate is unknown (`measure save` keeps the time)"
            )
    return ""


def _hours_against_clock(readings: Sequence[WearReading]) -> list[str]:
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


def _one_a_moment(readings: Sequence[WearReading]) -> list[WearReading]:
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


def lifetime_of_history(snapshots: Sequence[Snapshot]) -> DriveLifetime:
    """Return the years that a drive has left, from its snapshots.

    Args:
        snapshots: of one drive, in any order; one alone must have power-on hours.

    Raises:
        WriteampError: they are of several drives, or have no percentage used or no common clock.
    """
    for what in ("serial", "model"):
        names = dict.fromkeys(getattr(one.facts, what) for one in snapshots)
        if len([one for one in names if one]) > 1:
            raise WriteampError(
                f"the snapshots are of several drives: the {what} is "
                f"{' and '.join(str(one) for one in names)}; give those of one"
            )
    used = [one for one in snapshots if one.facts.percentage_used is not None]
    if not used:
        raise WriteampError(_why_unknown(snapshots))
    history = history_of(used)
    readings, is_by_hours = history.readings, history.is_by_hours
    used = list(history.snapshots)
    last = used[-1].facts
    percent = last.percentage_used or 0.0
    answer = life_answer(used[-1])
    daily, host_warnings = _host_rate(used)
    common: dict[str, Any] = {
        "wa": answer.wa,
        "wa_low": answer.wa_low,
        "wa_high": answer.wa_high,
        "wa_of_interval": interval_answer(used[0], used[-1]).wa if len(used) > 1 else None,
        "host_bytes_a_day": daily,
        "assumptions": tuple(_rated_cycles(last)),
    }
    if percent >= WHOLE_PERCENT:
        more = " or more" if percent >= _MOST_PERCENT else ""
        note = (
            f"{percent:g}%{more} of the rated life is used: the rated life is over, but that does "
            "not end the drive"
        )
        return DriveLifetime(
            "percentage used", 0.0, 0.0, 0.0, dominates="nothing: the rated life is over",
            backtest=backtest_of(readings, is_by_hours=is_by_hours),
            warnings=(note, *_evidence(last, "ok"), *history.warnings, *host_warnings), **common,
        )  # fmt: skip
    forecast = latest_forecast(readings, is_by_hours=is_by_hours) if readings else None
    if forecast is None:
        if not history.warnings:
            raise WriteampError(
                "the snapshots are of one moment and have no power-on hours, so the rate is "
                "unknown; add a later snapshot"
            )
        return DriveLifetime(UNKNOWN, warnings=(*history.warnings, *host_warnings), **common)
    warnings = (*forecast.warnings, *_evidence(last, "doubt"), *history.warnings, *host_warnings)
    if forecast.method == LIFE_SO_FAR and not history.is_by_hours:
        warnings += (_power_warning(powered_share(readings)),)
    return DriveLifetime(
        forecast.method, **_years(forecast), dominates=forecast.dominates,
        backtest=backtest_of(readings, is_by_hours=is_by_hours), warnings=warnings, **common,
    )  # fmt: skip


def _power_warning(share: float | None) -> str:
    if share is None or share > ALWAYS_ON:
        on = "is never off"
    else:
        on = f"is on for {share:.0%} of the time, as it was between the snapshots"
    return f"the life so far is measured in power-on hours; years assume a drive that {on}"


def _why_unknown(snapshots: Sequence[Snapshot]) -> str:
    doubts = (doubt for one in snapshots for doubt in _evidence(one.facts, "doubt"))
    if doubt := next(doubts, ""):
        return f"how much of the rated life is used is unknown: {doubt}"
    notes = dict.fromkeys(note for one in snapshots for note in one.facts.notes)
    why = "".join(f"; {note}" for note in notes)
    return (
        f"no snapshot says how much of the rated life is used (percentage used){why}; give a load "
        "(--trace or --workload, --device, --daily-writes) for a life by simulation"
    )


def _evidence(facts: CounterFacts, verdict: str) -> Iterator[str]:
    """Yield the evidence of checks of percentage used that have a verdict."""
    for check in facts.checks:
        if (check.name, check.verdict) == ("percentage used", verdict):
            yield check.evidence


def _years(forecast: WearForecast) -> dict[str, Any]:
    seconds = forecast.seconds_to(WHOLE_PERCENT)
    low, middle, high = (None if one is None else one / YEAR_S for one in seconds)
    if middle is None:
        return {"at_least_years": low}
    return {"years": middle, "years_low": low, "years_high": high}


def _rated_cycles(facts: CounterFacts) -> Iterator[tuple[str, str]]:
    """Yield the cycles that the drive's own erases and percentage used say it is rated for."""
    percent = facts.percentage_used or 0.0
    erases = next(iter(facts.erases), None)
    if erases is not None and percent > 1:
        low = erases.low / (percent + 1) * WHOLE_PERCENT
        high = erases.high / (percent - 1) * WHOLE_PERCENT
        yield (
            "rated cycles",
            f"{low:,.0f} to {high:,.0f}: {erases.low:g} erases ({erases.label}) are {percent:g}%",
        )


def _host_rate(snapshots: Sequence[Snapshot]) -> tuple[float | None, tuple[str, ...]]:
    """Return the host's bytes a day (Theil-Sen), and a warning where the use has changed."""
    points = [
        (one.facts.taken_at / DAY_S, float(host.nominal))
        for one in _spread_over(snapshots)
        if one.facts.taken_at is not None and (host := life_answer(one).host) is not None
    ]
    if len(points) < 2 or points[-1][0] <= points[0][0]:
        return None, ()
    daily = _median_slope(points)
    if len(points) < _FEWEST_FOR_TREND:
        return daily, ()
    half = len(points) // 2
    first, last = _median_slope(points[: half + 1]), _median_slope(points[half:])
    if max(first, last) <= _CHANGED * min(first, last):
        return daily, ()
    return daily, (
        f"the host wrote {first / 1e9:.4g} GB a day in the first half of the history and "
        f"{last / 1e9:.4g} GB a day in the second: the life ahead is that of the second if it "
        "continues",
    )


def _spread_over(snapshots: Sequence[Snapshot]) -> Sequence[Snapshot]:
    stride = -(-len(snapshots) // _MOST_POINTS)
    return [*snapshots[:-1:stride], snapshots[-1]]


def _median_slope(points: Sequence[tuple[float, float]]) -> float:
    """Return the Theil-Sen slope, the median of all pairs' slopes; 0 if all are of one moment."""
    slopes = [
        (last[1] - first[1]) / (last[0] - first[0])
        for first, last in combinations(points, 2)
        if last[0] > first[0]
    ]
    return median(slopes) if slopes else 0.0
