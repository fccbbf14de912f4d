"""Forecast of wear by the rate that explains the readings, and a backtest of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from writeamp.drives.lifetime.rates import RateBounds, Rates, WearReading, rates_of
from writeamp.drives.lifetime.result import Backtest

LIFE_SO_FAR = "life so far"
BY_STEPS = "steps of percentage used"
NO_STEP = "no step of percentage used"
HOUR_S, DAY_S, YEAR_S = 3600.0, 86_400.0, 365 * 86_400.0
WHOLE_PERCENT = 100.0
# The load now may be this many times that of the life so far, or a fraction of it.
_OTHER_LOAD = 1.5
# With one step, all rates up to the highest are alike; 5% of them are below this share of it.
_SLOWEST_SHARE = 1 / 20
# One step tells nothing if the life so far makes as many within so many times the readings' span,
# or if it is seen within so short a time: it had to come at some time.
_CHANCE, _SHORTEST_SPAN_S = 10, DAY_S
# If power-on hours do not rise for this long, they have stopped.
_LONGEST_STAND_S = 2 * DAY_S
# A drive that is on for this share of the time is never off.
ALWAYS_ON = 0.9
# Forecasts are made from all readings up to one of them, at most so many over the history.
_MOST_FORECASTS = 50
_FEWEST_READINGS = 2
# A forecast can fail only if the step is known to this share of the time until it.
_GAP_SHARE = 0.5


class WearForecast(NamedTuple):
    """Rate at which a drive's wear continues.

    Attributes:
        method: what the rate is from.
        last: latest reading, from which wear continues.
        bounds: 90% interval of the rate; a lowest rate of 0 is unknown.
        step_percent: every percentage used is a multiple of it.
        dominates: what the bounds depend on most.
        warnings: sentences about a rate that changed.
    """

    method: str
    last: WearReading
    bounds: RateBounds
    step_percent: float
    dominates: str
    warnings: tuple[str, ...] = ()

    def seconds_to(self, percent: float) -> tuple[float, float | None, float | None]:
        """Return the least, middle and most seconds until a percentage; None if unknown."""
        least = max(percent - self.last.percent - self.step_percent, 0.0)
        most = max(percent - self.last.percent, 0.0)
        low, middle, high = self.bounds
        earliest = least / high if high > 0 else 0.0
        return (earliest, most / middle, most / low) if low > 0 else (earliest, None, None)


def latest_forecast(readings: Sequence[WearReading], *, is_by_hours: bool) -> WearForecast | None:
    """Return the forecast by all readings; it warns if it contradicts that before the last one."""
    forecast = forecast_of(readings, is_by_hours=is_by_hours)
    if forecast is None or forecast.warnings or len(readings) < 3:
        return forecast
    earlier = forecast_of(readings[:-1], is_by_hours=is_by_hours)
    if earlier is None or not _is_apart(earlier, forecast):
        return forecast
    warning = _changed("before the last reading", earlier.bounds, forecast.bounds)
    return forecast._replace(warnings=(warning,))


def _is_apart(earlier: WearForecast, later: WearForecast) -> bool:
    """Return whether two forecasts have no rate, or no end of the rated life, in common."""
    (least, _, most), (later_least, _, later_most) = (
        one.seconds_to(WHOLE_PERCENT) for one in (earlier, later)
    )
    since_s = later.last.early_s - earlier.last.early_s
    is_sooner = later_most is not None and since_s + later_most < least
    is_later = most is not None and most < since_s + later_least
    return is_sooner or is_later or earlier.bounds.is_apart_from(later.bounds)


def forecast_of(readings: Sequence[WearReading], *, is_by_hours: bool) -> WearForecast | None:
    """Return the forecast by readings; None if they do not span any time that is known.

    Args:
        readings: in order of time, of a percentage that does not fall.
        is_by_hours: their times are power-on hours.
    """
    first, last = readings[0], readings[-1]
    share = 1.0 if is_by_hours else powered_share(readings)
    if last.early_s <= first.early_s:
        life = _life(last, share)
        return None if life is None else _by_life(last, life, 1.0)
    rates = rates_of(readings)
    life = _life(last, share, rates.step_percent)
    warnings = _warnings(rates, first, share, is_by_hours=is_by_hours)
    now = rates.bounds
    if rates.rise_percent <= 0:
        if life is not None and life.low <= now.high and not warnings:
            return _by_life(last, life, rates.step_percent, now.high)
        now = now._replace(low=0.0)
        return WearForecast(NO_STEP, last, now, rates.step_percent, "no step was seen", warnings)
    if now.low <= 0:
        if life is not None and 0 < life.low < now.middle and not warnings:
            if _CHANCE * life.high < now.middle:
                return _by_life(last, life, rates.step_percent)
            now = now._replace(low=life.low)
        elif rates.span[1].early_s - rates.span[0].early_s >= _SHORTEST_SPAN_S:
            now = now._replace(low=now.high * _SLOWEST_SHARE)
    dominates = (
        "how the load differs from day to day"
        if rates.varies
        else f"{_counted(rates.step_percent)} and times between readings"
    )
    return WearForecast(BY_STEPS, last, now, rates.step_percent, dominates, warnings)


def _counted(step_percent: float) -> str:
    if step_percent > 1:
        return f"percentage used that counts by {step_percent:g}%"
    return "whole numbers of percentage used"


def _by_life(
    last: WearReading, life: RateBounds, step: float, highest: float = math.inf
) -> WearForecast:
    dominates = _counted(step)
    if life.low <= 0:
        # The least life is that of the highest mean, whose rounding leaves room enough.
        bounds = life._replace(high=min(life.high, highest))
        return WearForecast(NO_STEP, last, bounds, step, dominates)
    low, high = life.low / _OTHER_LOAD, min(life.high * _OTHER_LOAD, highest)
    bounds = RateBounds(low, min(life.middle, (life.low + high) / 2), high)
    return WearForecast(LIFE_SO_FAR, last, bounds, step, dominates)


def powered_share(readings: Sequence[WearReading]) -> float | None:
    """Return the share of the time that power-on hours count; None if they have stopped."""
    first, last = readings[0], readings[-1]
    span_s = last.early_s - first.early_s
    if first.hours is None or last.hours is None or span_s <= _LONGEST_STAND_S:
        return 1.0
    stopped_at = next(reading for reading in readings if reading.hours == last.hours)
    if last.hours < first.hours or last.early_s - stopped_at.early_s > _LONGEST_STAND_S:
        return None
    return min((last.hours + 1 - first.hours) * HOUR_S / span_s, 1.0)


def _life(reading: WearReading, share: float | None, step: float = 1.0) -> RateBounds | None:
    """Return the rate from new to a reading, however percentage used is rounded."""
    if not reading.hours or share is None:
        return None
    age_s, percent = reading.hours * HOUR_S, reading.percent
    low, high = max(percent - 1, 0) / age_s * share, (percent + step) / age_s
    bounds = RateBounds(low, percent / age_s * share, high)
    return bounds.with_variation(age_s) if low > 0 else bounds


def _warnings(
    rates: Rates, first: WearReading, share: float | None, *, is_by_hours: bool
) -> tuple[str, ...]:
    """Return a warning with both rates if the rate has changed."""
    now = rates.bounds
    if rates.before is not None:
        days = (rates.span[1].early_s - rates.span[0].early_s) / DAY_S
        powered = " powered on" if is_by_hours else ""
        when = f"about {days:,.4g} days{powered} before the last reading"
        return (_changed(when, rates.before, now),)
    before = _life(first, share)
    if before is None or share is None:
        return ()
    # Of a drive that is off at times, the rate by hours is more than that by the clock.
    is_faster = now.low > before.high
    if not now.differs_from(before) or not (is_faster or share > ALWAYS_ON):
        return ()
    return (_changed("before the first reading", before, now),)


def _changed(when: str, before: RateBounds, now: RateBounds) -> str:
    return (
        f"the rate of wear changed {when}: {_yearly(before)} before, {_yearly(now)} since; the "
        "life ahead is that of the later rate"
    )


def _yearly(bounds: RateBounds) -> str:
    if bounds.low <= 0:
        return f"less than {bounds.high * YEAR_S:.3g}% a year"
    return f"{bounds.middle * YEAR_S:.3g}% a year"


def backtest_of(readings: Sequence[WearReading], *, is_by_hours: bool) -> Backtest | None:
    """Return how often forecasts of the last step of percentage used held; None without any.

    A forecast is made from all readings up to one of them, by the rule that forecasts the end of
    the rated life, and holds if the step came within its interval. Where the gap between the
    readings before and after the step is long, no forecast could fail, and none is counted.

    Args:
        readings: in order of time, of a percentage that does not fall.
        is_by_hours: their times are power-on hours.
    """
    steps = [pair for pair in pairwise(readings) if pair[1].percent > pair[0].percent]
    if not steps:
        return None
    before, after = steps[-1]
    gap_s = after.early_s - before.early_s
    counts = [
        count
        for count, reading in enumerate(readings, 1)
        if count >= _FEWEST_READINGS
        and reading.percent < after.percent
        and gap_s <= _GAP_SHARE * (after.early_s - reading.early_s)
    ]
    stride = -(-len(counts) // _MOST_FORECASTS) or 1
    forecasts = [
        forecast_of(readings[:count], is_by_hours=is_by_hours) for count in counts[::stride]
    ]
    held = [_holds(forecast, before, after) for forecast in forecasts if forecast is not None]
    return Backtest(after.percent, len(held), sum(held)) if held else None


def _holds(forecast: WearForecast, before: WearReading, after: WearReading) -> bool:
    """Return whether a step came when it was forecast."""
    earliest_s, _, latest_s = forecast.seconds_to(after.percent)
    now_s = forecast.last.early_s
    is_late_enough = now_s + earliest_s <= after.late_s
    return is_late_enough and (latest_s is None or before.early_s <= now_s + latest_s)
