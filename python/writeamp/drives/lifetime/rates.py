"""Rates of wear that explain readings of percentage used.

A reading bounds the wear at its time: `percent <= wear < percent + step`. If wear rises at a
constant rate, two readings bound the rate. The bounds of all pairs together are exactly the rates
that explain all readings (Fourier-Motzkin elimination of the wear at the start).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from writeamp.units.durations import DAY_S

# Loads vary from day to day. With a variation v, the wear of n days may differ from its expected
# value by v * sqrt(n) times the mean wear of a day. Mean rates are at least as uncertain as with
# _LEAST_VARIATION. Two spans are compared as if both varied by _USUAL_VARIATION.
_LEAST_VARIATION, _USUAL_VARIATION, _MOST_VARIATION = 0.5, 1.0, 30.0
# The least variation that explains the readings underestimates the true variation by up to this
# factor.
_VARIATION_MARGIN = 1.5
_BISECTIONS = 10
# Two rates count as different if the ratio of their closest bounds is above this.
_OTHER_RATE = 1.25
# Conditions for detecting a drive that counts in steps above 1%. There must be at least this mean
# number of readings per value, so that no value is skipped for lack of readings. With only one
# rise, it must happen within this share of the history, as a load that stops also makes one rise.
_READINGS_PER_VALUE = 2
_SHORT_RISE_SHARE = 1 / 6


class WearReading(NamedTuple):
    """Percentage used at a moment from `early_s` to `late_s`; hours are None if unknown."""

    percent: float
    early_s: float
    late_s: float
    hours: float | None = None


class RateBounds(NamedTuple):
    """Bounds and middle of a rate of wear, in percent per second.

    The lower bound is 0 if the readings have fewer than two steps of percentage used.
    """

    low: float
    middle: float
    high: float

    def differs_from(self, other: RateBounds) -> bool:
        """Return whether the closest bounds of two rates differ by more than a quarter."""
        return self.low > _OTHER_RATE * other.high or self.high * _OTHER_RATE < other.low

    def is_apart_from(self, other: RateBounds) -> bool:
        """Return whether two intervals of rates do not overlap."""
        return self.low > other.high or self.high < other.low

    def with_variation(self, span_s: float) -> RateBounds:
        """Return the bounds, widened to at least the uncertainty of a mean rate over a span."""
        spread = self.middle * min(_LEAST_VARIATION / math.sqrt(span_s / DAY_S), 0.5)
        low, high = min(self.low, self.middle - spread), max(self.high, self.middle + spread)
        return RateBounds(low, self.middle, high)

    def joined(self, other: RateBounds) -> RateBounds:
        """Return the narrowest bounds that contain both intervals."""
        return self._replace(low=min(self.low, other.low), high=max(self.high, other.high))


class Rates(NamedTuple):
    """Rate of the latest span of readings that one rate explains.

    Attributes:
        bounds: bounds of the rate.
        previous: bounds of the previous rate; None if the rate did not change.
        span: first and last reading of the span.
        step_percent: step in which the drive counts percentage used; 1 for most drives.
        varies: whether one rate explains the span only if the load varies from day to day.
    """

    bounds: RateBounds
    previous: RateBounds | None
    span: tuple[WearReading, WearReading]
    step_percent: float
    varies: bool

    @property
    def rise_percent(self) -> float:
        """Rise of percentage used within the span."""
        return self.span[1].percent - self.span[0].percent


def rates_of(readings: Sequence[WearReading]) -> Rates:
    """Return the rate of wear that explains the latest readings of percentage used.

    Args:
        readings: at least two readings at different times, in order of time, with a percentage used
            that does not fall.
    """
    corners = _corners(readings)
    step, starts = _step_and_starts(corners, len(readings))
    start, previous = _latest_span(corners, starts, step)
    span = corners[start:]
    variation = _variation(span, step)
    margin = _VARIATION_MARGIN * variation
    bounds = _bounds(span, step, margin)
    if variation > 0:
        end = _bounds(corners[_with_two_steps(corners, step, starts[-1]) :], step)
        if end.low > 0:
            bounds = bounds.joined(end)
        elif bounds.is_apart_from(end):
            bounds = bounds.joined(RateBounds(end.middle, end.middle, end.middle))
    if previous is not None:
        later = _bounds(_changed_in_first_gap(span, previous), step, margin).middle
        bounds = bounds.joined(RateBounds(later, later, later))
    return Rates(bounds, previous, (span[0], span[-1]), step, variation > 0)


def _corners(readings: Sequence[WearReading]) -> list[WearReading]:
    """Return the first and last reading of each value; readings in between add no information."""
    percents = [None, *(reading.percent for reading in readings), None]
    return [
        reading
        for reading, previous, following in zip(readings, percents, percents[2:], strict=False)
        if not previous == reading.percent == following
    ]


def _step_and_starts(corners: Sequence[WearReading], readings: int) -> tuple[float, list[int]]:
    """Return the step of percentage used, and the starts of spans with a single rate.

    The step is above 1% only if all values are multiples of it, readings are dense enough that no
    value is skipped, and the step explains the readings with fewer rates.
    """
    values = {reading.percent for reading in corners}
    starts = _starts(corners, 1.0)
    coarse = math.gcd(*map(int, values)) if all(value.is_integer() for value in values) else 1
    is_dense = readings >= _READINGS_PER_VALUE * len(values)
    # Even values may be a coincidence if there are only one or two.
    if is_dense and _rises_fast(corners, len(values)) and coarse ** (len(values) - 1) > 2:
        coarse_starts = _starts(corners, coarse)
        if len(coarse_starts) < len(starts):
            return float(coarse), coarse_starts
    return 1.0, starts


def _rises_fast(corners: Sequence[WearReading], values: int) -> bool:
    if values > 2:
        return True
    rise_s = sum(
        later.early_s - earlier.early_s
        for earlier, later in pairwise(corners)
        if later.percent > earlier.percent
    )
    return rise_s <= _SHORT_RISE_SHARE * (corners[-1].early_s - corners[0].early_s)


def _starts(corners: Sequence[WearReading], step: float) -> list[int]:
    """Divide the readings into spans that one rate explains; return where each span starts.

    Each span is as long as possible, and begins with the last reading of the previous span. A
    change may be detected late, but all readings after this one have the new rate.
    """
    low, high = _pair_bounds(corners, step, 0.0)
    starts = [0]
    while True:
        start = starts[-1]
        least = np.maximum.accumulate(low[start:, start:].max(axis=0))
        most = np.minimum.accumulate(high[start:, start:].min(axis=0))
        unexplained = np.flatnonzero(least > most)
        if not unexplained.size:
            return starts
        starts.append(start + int(unexplained[0]) - 1)


def _latest_span(
    corners: Sequence[WearReading], starts: Sequence[int], step: float
) -> tuple[int, RateBounds | None]:
    """Return the start of the latest rate, and the previous rate; None if it did not change.

    Spans with similar rates belong to one load that varies.
    """
    start = starts[-1]
    for earlier, end in reversed(list(pairwise(starts))):
        previous = _bounds(corners[earlier : end + 1], step, _USUAL_VARIATION)
        variation = max(_variation(corners[start:], step), _USUAL_VARIATION)
        if previous.differs_from(_bounds(corners[start:], step, variation)):
            is_last = start == starts[-1]
            return _with_two_steps(corners, step, start) if is_last else start, previous
        start = earlier
    return start, None


def _with_two_steps(corners: Sequence[WearReading], step: float, start: int) -> int:
    """Return `start`, or an earlier start from which two steps occur and one rate fits."""
    for earlier in range(start, -1, -1):
        if corners[-1].percent - corners[earlier].percent > step:
            return earlier if _is_explained(corners[earlier:], step, 0.0) else start
    return start


def _changed_in_first_gap(span: Sequence[WearReading], previous: RateBounds) -> list[WearReading]:
    """Return the span, assuming that its rate began midway between its first two readings."""
    first, second = span[:2]
    rise_s = (second.percent - first.percent) / previous.middle
    wait_s = min(second.early_s - first.early_s, rise_s) / 2
    changed = first._replace(
        percent=first.percent + previous.middle * wait_s,
        early_s=first.early_s + wait_s,
        late_s=first.late_s + wait_s,
    )
    return [changed, *span[1:]]


def _variation(corners: Sequence[WearReading], step: float) -> float:
    """Return the least variation of the load with which one rate explains the readings."""
    if _is_explained(corners, step, 0.0):
        return 0.0
    below, above = 0.0, _MOST_VARIATION
    for _ in range(_BISECTIONS):
        middle = (below + above) / 2
        is_explained = _is_explained(corners, step, middle)
        below, above = (below, middle) if is_explained else (middle, above)
    return above


def _is_explained(corners: Sequence[WearReading], step: float, variation: float) -> bool:
    low, high = _pair_bounds(corners, step, variation)
    return bool(low.max() <= high.min())


def _bounds(corners: Sequence[WearReading], step: float, variation: float = 0.0) -> RateBounds:
    """Return the bounds of the rates that explain the readings, and a middle.

    The middle is the rise over the span, divided by its time, and limited to the middle half of the
    bounds.
    """
    pair_low, pair_high = _pair_bounds(corners, step, variation)
    low, high = float(pair_low.max()), float(pair_high.min())
    first, last = corners[0], corners[-1]
    span_s = max(last.early_s - first.early_s, 1.0)
    middle = max((last.percent - first.percent) / span_s, low)
    # With a varying load, the rate of a few days may have no upper bound.
    if math.isfinite(high):
        quarter = (high - low) / 4
        middle = min(max(middle, low + quarter), high - quarter)
    return RateBounds(low, middle, high).with_variation(span_s)


def _pair_bounds(
    corners: Sequence[WearReading], step: float, variation: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the lowest and highest rate that each pair of readings allows.

    Rows are the earlier reading of a pair, columns the later.
    """
    percent, early_s, late_s = (
        np.array([reading[field] for reading in corners], dtype=float) for field in range(3)
    )
    rise = percent[None, :] - percent[:, None]
    longest_s = np.maximum(late_s[None, :] - early_s[:, None], 0.0)
    # Power-on hours are rounded. Readings one hour apart are assumed to be at least half an hour
    # apart.
    apart_s = early_s[None, :] - early_s[:, None]
    shortest_s = np.maximum(early_s[None, :] - late_s[:, None], np.maximum(apart_s / 2, 0.0))
    longest_s = longest_s + variation * np.sqrt(longest_s * DAY_S)
    shortest_s = shortest_s - variation * np.sqrt(shortest_s * DAY_S)
    with np.errstate(divide="ignore", invalid="ignore"):
        low = np.where(rise > step, (rise - step) / longest_s, 0.0)
        high = np.where(shortest_s > 0, (rise + step) / shortest_s, np.inf)
    is_later = np.triu(np.ones(rise.shape, dtype=bool), 1)
    return np.where(is_later, low, 0.0), np.where(is_later, high, np.inf)
