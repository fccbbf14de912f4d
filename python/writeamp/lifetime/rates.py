"""Rates at which percentage used rises: bounds by its steps, or by the life so far."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from writeamp.errors import WriteampError
from writeamp.measure.counters.facts import Facts

_HOUR_S = 3600.0
LIFE_SO_FAR = "life so far"


class Step(NamedTuple):
    """Percentage used rose to a whole number between two readings."""

    percent: float
    after_s: float
    before_s: float


class Rate(NamedTuple):
    """Per cent a second: bounds and what is likeliest; a low of 0 is unknown."""

    low: float
    middle: float
    high: float
    method: str
    dominates: str


def steps_of(facts: Sequence[Facts]) -> list[Step]:
    """Return the steps of percentage used between successive readings."""
    return [
        Step(last.percentage_used or 0.0, first.taken_at or 0.0, last.taken_at or 0.0)
        for first, last in pairwise(facts)
        if (last.percentage_used or 0.0) > (first.percentage_used or 0.0)
    ]


def rate_of(facts: Sequence[Facts]) -> Rate:
    """Return the rate of a drive's per cents.

    Args:
        facts: in order of time, each with a percentage used.

    Raises:
        WriteampError: they say nothing of time.
    """
    steps = steps_of(facts)
    span_s = (facts[-1].taken_at or 0.0) - (facts[0].taken_at or 0.0)
    if len(steps) > 1 and span_s > 0:
        rise = steps[-1].percent - steps[0].percent
        shortest = max(steps[-1].after_s - steps[0].before_s, 1.0)
        longest = max(steps[-1].before_s - steps[0].after_s, shortest)
        # A step of one reading may be of more than one per cent, whose first is not seen.
        low, high = _narrowed(rise / longest, rise / shortest, facts, span_s)
        middle = min(max(rise / ((shortest + longest) / 2), low), high)
        return Rate(low, middle, high, "steps of percentage used", "times between readings")
    return _life_so_far(facts[-1], steps, span_s)


def _narrowed(
    low: float, high: float, facts: Sequence[Facts], span_s: float
) -> tuple[float, float]:
    """Return bounds of a rate within those that the whole rise of a history gives, if they meet.

    Whole numbers of both ends are wrong by less than one together.
    """
    rise = (facts[-1].percentage_used or 0.0) - (facts[0].percentage_used or 0.0)
    within = max(low, (rise - 1) / span_s), min(high, (rise + 1) / span_s)
    return within if within[0] <= within[1] else (low, high)


def _life_so_far(last: Facts, steps: Sequence[Step], span_s: float) -> Rate:
    """Return the rate of the life so far, and what a history without two steps adds to it."""
    percent = last.percentage_used or 0.0
    age_s = (last.power_on_hours or 0.0) * _HOUR_S
    # Within the history it rose by less than one per cent more than the steps that are seen.
    most = (sum(1 for _ in steps) + 1) / span_s if span_s > 0 else np.inf
    if age_s <= 0 and not np.isfinite(most):
        raise WriteampError(
            "one snapshot without power-on hours says nothing of time; give a second one"
        )
    if age_s <= 0:
        return Rate(0.0, most, float(most), "no step of percentage used", "no step was seen")
    high = min((percent + 1) / age_s, most) if percent < 1 else (percent + 1) / age_s
    low = (percent - 1) / age_s if percent > 1 else 0.0
    what = LIFE_SO_FAR if low > 0 else "no step of percentage used"
    return Rate(low, percent / age_s, float(high), what, "whole numbers of percentage used")
