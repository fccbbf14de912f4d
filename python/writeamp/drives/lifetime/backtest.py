"""Backtest of a history: what its beginnings would have forecast of its last step."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from writeamp.drives.lifetime.forecast import Forecast, forecast_of
from writeamp.drives.lifetime.rates import Reading
from writeamp.drives.lifetime.result import Backtest

# Forecasts are made from all readings up to one of them, at most so many over the history.
_MOST_FORECASTS = 50
_FEWEST_READINGS = 2
# A forecast can fail only if the step is known to this share of the time until it.
_GAP_SHARE = 0.5


def backtest_of(readings: Sequence[Reading], *, is_by_hours: bool) -> Backtest | None:
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


def _holds(forecast: Forecast, before: Reading, after: Reading) -> bool:
    """Return whether a step came when it was forecast."""
    earliest_s, _, latest_s = forecast.seconds_to(after.percent)
    now_s = forecast.last.early_s
    is_late_enough = now_s + earliest_s <= after.late_s
    return is_late_enough and (latest_s is None or before.early_s <= now_s + latest_s)
