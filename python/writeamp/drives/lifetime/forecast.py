"""Forecast of wear from the rate that fits readings of percentage used, and its backtest."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from writeamp.drives.lifetime.rates import RateBounds, Rates, WearReading, rates_of
from writeamp.drives.lifetime.result import Backtest
from writeamp.units.durations import DAY_S, YEAR_S

LIFE_SO_FAR = "life so far"
BY_STEPS = "steps of percentage used"
NO_STEP = "no step of percentage used"
HOUR_S = 3600.0
WHOLE_PERCENT = 100.0
# The current load is assumed to be at most this many times the mean load since the drive was new,
# and at least this fraction of it.
_OTHER_LOAD = 1.5
# With one step of percentage used, all rates up to the highest are equally likely. The slowest 5%
# are below this share of the highest.
_SLOWEST_SHARE = 1 / 20
# A single step may come early by chance. So it is ignored if the rate that it implies is more than
# the first number times the highest likely mean rate since the drive was new. If the readings span
# less than the second number of seconds, it gives no lower bound of the rate.
_CHANCE, _SHORTEST_SPAN_S = 10, DAY_S
# Power-on hours that do not rise for this long count as stopped.
_LONGEST_STAND_S = 2 * DAY_S
# A drive that is powered on for more than this share of the elapsed time counts as always on.
ALWAYS_ON = 0.9
# The backtest makes at most this many forecasts over the history, each from all readings before
# some time.
_MOST_FORECASTS = 50
_FEWEST_READINGS = 2
# The backtest counts a forecast only if the gap between the readings around the step is at most
# this share of the time from the forecast to the step.
_GAP_SHARE = 0.5


class WearForecast(NamedTuple):
    """Rate at which a drive's wear continues.

    Attributes:
        method: source of the rate.
        last: latest reading, from which wear continues.
        bounds: 90% interval of the rate; a lower bound of 0 means that the lower bound is unknown.
        step_percent: step in which the drive counts percentage used, 1 for most drives.
        dominates: main cause of the width of the bounds.
        warnings: sentences about a rate that changed.
    """

    method: str
    last: WearReading
    bounds: RateBounds
    step_percent: float
    dominates: str
    warnings: tuple[str, ...] = ()

    def seconds_to(self, percent: float) -> tuple[float, float | None, float | None]:
        """Return the least, middle and greatest number of seconds until a percentage.

        The middle and the greatest are None if the rate has no lower bound.
        """
        least = max(percent - self.last.percent - self.step_percent, 0.0)
        most = max(percent - self.last.percent, 0.0)
        low, middle, high = self.bounds
        earliest = least / high if high > 0 else 0.0
        return (earliest, most / middle, most / low) if low > 0 else (earliest, None, None)


def latest_forecast(readings: Sequence[WearReading], *, is_by_hours: bool) -> WearForecast | None:
    """Return the forecast from all readings, with a warning if the previous one contradicts it."""
    forecast = forecast_of(readings, is_by_hours=is_by_hours)
    if forecast is None or forecast.warnings or len(readings) < 3:
        return forecast
    earlier = forecast_of(readings[:-1], is_by_hours=is_by_hours)
    if earlier is None or not _is_apart(earlier, forecast):
        return forecast
    warning = _changed("before the last reading", earlier.bounds, forecast.bounds)
    return forecast._replace(warnings=(warning,))


def _is_apart(earlier: WearForecast, later: WearForecast) -> bool:
    """Return whether two forecasts have disjoint intervals of the rate or of the life's end."""
    (least, _, most), (later_least, _, later_most) = (
        forecast.seconds_to(WHOLE_PERCENT) for forecast in (earlier, later)
    )
    since_s = later.last.early_s - earlier.last.early_s
    is_sooner = later_most is not None and since_s + later_most < least
    is_later = most is not None and most < since_s + later_least
    return is_sooner or is_later or earlier.bounds.is_apart_from(later.bounds)


def forecast_of(readings: Sequence[WearReading], *, is_by_hours: bool) -> WearForecast | None:
    """Return the forecast from readings; None if they have one time and no power-on hours.

    Args:
        readings: readings in order of time, with a percentage used that does not fall.
        is_by_hours: whether the times of the readings are power-on hours.
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
        return WearForecast(
            NO_STEP,
            last,
            now,
            rates.step_percent,
            "percentage used, which did not rise between the readings",
            warnings,
        )
    if now.low <= 0:
        if life is not None and 0 < life.low < now.middle and not warnings:
            if _CHANCE * life.high < now.middle:
                return _by_life(last, life, rates.step_percent)
            now = now._replace(low=life.low)
        elif rates.span[1].early_s - rates.span[0].early_s >= _SHORTEST_SPAN_S:
            now = now._replace(low=now.high * _SLOWEST_SHARE)
    dominates = (
        "the variation of the load from day to day"
        if rates.varies
        else f"{_counted(rates.step_percent)}, and the times between readings"
    )
    return WearForecast(BY_STEPS, last, now, rates.step_percent, dominates, warnings)


def _counted(step_percent: float) -> str:
    if step_percent > 1:
        return f"the rounding of percentage used to steps of {step_percent:g}%"
    return "the rounding of percentage used to whole numbers"


def _by_life(
    last: WearReading, life: RateBounds, step: float, highest: float = math.inf
) -> WearForecast:
    dominates = _counted(step)
    if life.low <= 0:
        # The upper bound already allows for rounding of percentage used, so it is not widened.
        bounds = life._replace(high=min(life.high, highest))
        return WearForecast(NO_STEP, last, bounds, step, dominates)
    low, high = life.low / _OTHER_LOAD, min(life.high * _OTHER_LOAD, highest)
    bounds = RateBounds(low, min(life.middle, (life.low + high) / 2), high)
    return WearForecast(LIFE_SO_FAR, last, bounds, step, dominates)


def powered_share(readings: Sequence[WearReading]) -> float | None:
    """Return the ratio of power-on hours to elapsed time; None if they have stopped or fallen.

    Returns 1 if power-on hours are unknown, or if the readings span at most two days.
    """
    first, last = readings[0], readings[-1]
    span_s = last.early_s - first.early_s
    if first.hours is None or last.hours is None or span_s <= _LONGEST_STAND_S:
        return 1.0
    stopped_at = next(reading for reading in readings if reading.hours == last.hours)
    if last.hours < first.hours or last.early_s - stopped_at.early_s > _LONGEST_STAND_S:
        return None
    return min((last.hours + 1 - first.hours) * HOUR_S / span_s, 1.0)


def _life(reading: WearReading, share: float | None, step: float = 1.0) -> RateBounds | None:
    """Return the mean rate from new to a reading; bounds cover any rounding of percentage used."""
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
    if rates.previous is not None:
        days = (rates.span[1].early_s - rates.span[0].early_s) / DAY_S
        powered = " powered on" if is_by_hours else ""
        when = f"about {days:,.4g} days{powered} before the last reading"
        return (_changed(when, rates.previous, now),)
    previous = _life(first, share)
    if previous is None or share is None:
        return ()
    # If a drive is off at times, its rate per hour of elapsed time is lower than per power-on hour.
    # So a slower rate now counts as a change only if the drive is always on.
    is_faster = now.low > previous.high
    if not now.differs_from(previous) or not (is_faster or share > ALWAYS_ON):
        return ()
    return (_changed("before the first reading", previous, now),)


def _changed(when: str, earlier: RateBounds, now: RateBounds) -> str:
    return (
        f"the rate of wear changed {when}: {_yearly(earlier)} before, {_yearly(now)} after; the "
        "remaining life uses the later rate"
    )


def _yearly(bounds: RateBounds) -> str:
    if bounds.low <= 0:
        return f"less than {bounds.high * YEAR_S:.3g}% of the rated life per year"
    return f"{bounds.middle * YEAR_S:.3g}% of the rated life per year"


def backtest_of(readings: Sequence[WearReading], *, is_by_hours: bool) -> Backtest | None:
    """Return how many forecasts of the last step of percentage used were right, or None.

    Each forecast uses all readings up to one of them, by the same rule as for the end of the rated
    life. It is right if the step came within its interval. If the gap between the readings around
    the step is long, no forecast could be wrong, so none is counted.

    Args:
        readings: readings in order of time, with a percentage used that does not fall.
        is_by_hours: whether the times of the readings are power-on hours.
    """
    steps = [pair for pair in pairwise(readings) if pair[1].percent > pair[0].percent]
    if not steps:
        return None
    start, end = steps[-1]
    gap_s = end.early_s - start.early_s
    counts = [
        count
        for count, reading in enumerate(readings, 1)
        if count >= _FEWEST_READINGS
        and reading.percent < end.percent
        and gap_s <= _GAP_SHARE * (end.early_s - reading.early_s)
    ]
    stride = -(-len(counts) // _MOST_FORECASTS) or 1
    forecasts = [
        forecast_of(readings[:count], is_by_hours=is_by_hours) for count in counts[::stride]
    ]
    held = [_holds(forecast, start, end) for forecast in forecasts if forecast is not None]
    return Backtest(end.percent, len(held), sum(held)) if held else None


def _holds(forecast: WearForecast, start: WearReading, end: WearReading) -> bool:
    """Return whether a step came within its forecast interval."""
    earliest_s, _, latest_s = forecast.seconds_to(end.percent)
    now_s = forecast.last.early_s
    is_late_enough = now_s + earliest_s <= end.late_s
    return is_late_enough and (latest_s is None or start.early_s <= now_s + latest_s)
