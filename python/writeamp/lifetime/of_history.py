"""Life of a real drive from its snapshots: the times at which percentage used stepped.

Percentage used is a whole number, so that nothing is fitted to its values: at a step it is exact,
within the gap between two readings. What lies between steps bounds the rate, and where there are
none the answer is a least life.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import theilslopes  # type: ignore[import-untyped]

from writeamp.errors import WriteampError
from writeamp.lifetime.result import Lifetime
from writeamp.measure.counters.answer import life_answer
from writeamp.measure.counters.facts import Facts
from writeamp.measure.counters.snapshot import Snapshot

_YEAR_S = 365 * 86_400.0
_HOUR_S, _DAY_S = 3600.0, 86_400.0
_WHOLE = 100.0
# Rates of the two halves of a history that differ by more than this are another use of the drive.
_CHANGED = 1.5
_FEWEST_FOR_TREND = 8


class Step(NamedTuple):
    """Percentage used rose to a whole number between two readings."""

    percent: float
    after_s: float
    before_s: float


class _Rate(NamedTuple):
    """Per cent a second: bounds and what is likeliest; a low of 0 is unknown."""

    low: float
    middle: float
    high: float
    method: str
    dominates: str


def lifetime_of_history(snapshots: Sequence[Snapshot]) -> Lifetime:
    """Return the life that a drive has left, from its snapshots in order of time.

    Args:
        snapshots: of one drive, each with `taken_at`; one alone must have power-on hours.

    Raises:
        WriteampError: there are none, or none says the percentage used.
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
        raise WriteampError(
            "no snapshot says how much of the rated life is used (percentage used); give a load "
            "(--trace or --workload, --device, --daily-writes) for a life by simulation"
        )
    last = used[-1].facts
    percent = last.percentage_used or 0.0
    answer = life_answer(used[-1])
    common: dict[str, Any] = {"wa": answer.wa, "wa_low": answer.wa_low, "wa_high": answer.wa_high}
    daily, warnings = _host_rate(used)
    rate = _rate([one.facts for one in used])
    if percent >= _WHOLE:
        note = f"{percent:g}% of the rated life is used: it is over, which does not end the drive"
        return Lifetime(
            "percentage used", 0.0, 0.0, 0.0, host_bytes_a_day=daily,
            dominates="nothing: the rated life is over", warnings=(note, *warnings), **common,
        )  # fmt: skip
    if rate.low <= 0:
        least = (_WHOLE - (percent + 1)) / rate.high / _YEAR_S if rate.high > 0 else 0.0
        return Lifetime(
            rate.method, at_least_years=max(least, 0.0), host_bytes_a_day=daily,
            dominates=rate.dominates, warnings=warnings, **common,
        )  # fmt: skip
    low, high = (
        max(_WHOLE - (percent + 1), 0) / rate.high / _YEAR_S,
        (_WHOLE - max(percent - 1, 0)) / rate.low / _YEAR_S,
    )
    years = (_WHOLE - percent) / rate.middle / _YEAR_S
    return Lifetime(
        rate.method, min(max(years, low), high), low, high, host_bytes_a_day=daily,
        dominates=rate.dominates, warnings=warnings, **common,
    )  # fmt: skip


def steps_of(facts: Sequence[Facts]) -> list[Step]:
    """Return the steps of percentage used between successive readings."""
    return [
        Step(last.percentage_used or 0.0, first.taken_at or 0.0, last.taken_at or 0.0)
        for first, last in pairwise(facts)
        if (last.percentage_used or 0.0) > (first.percentage_used or 0.0)
    ]


def _rate(facts: Sequence[Facts]) -> _Rate:
    steps = steps_of(facts)
    span_s = (facts[-1].taken_at or 0.0) - (facts[0].taken_at or 0.0)
    if len(steps) > 1:
        rise = steps[-1].percent - steps[0].percent
        shortest = max(steps[-1].after_s - steps[0].before_s, 1.0)
        longest = steps[-1].before_s - steps[0].after_s
        # A step of one reading may be of more than one per cent, whose first is not seen.
        low, high = rise / longest, rise / shortest
        middle = rise / ((shortest + longest) / 2)
        return _Rate(low, middle, high, "steps of percentage used", "times between readings")
    return _life_so_far(facts[-1], steps, span_s)


def _life_so_far(last: Facts, steps: Sequence[Step], span_s: float) -> _Rate:
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
        return _Rate(0.0, most, float(most), "no step of percentage used", "no step was seen")
    high = min((percent + 1) / age_s, most) if percent < 1 else (percent + 1) / age_s
    low = (percent - 1) / age_s if percent > 1 else 0.0
    what = "life so far" if low > 0 else "no step of percentage used"
    return _Rate(low, percent / age_s, float(high), what, "whole numbers of percentage used")


def _host_rate(snapshots: Sequence[Snapshot]) -> tuple[float | None, tuple[str, ...]]:
    """Return the host's bytes a day (Theil-Sen), and a warning where the use has changed."""
    points = [
        (one.facts.taken_at / _DAY_S, float(host.nominal))
        for one in snapshots
        if one.facts.taken_at is not None and (host := life_answer(one).host) is not None
    ]
    if len(points) < 2 or points[-1][0] <= points[0][0]:
        return None, ()
    days, written = (np.array(one) for one in zip(*points, strict=True))
    daily = float(theilslopes(written, days)[0])
    if len(points) < _FEWEST_FOR_TREND:
        return daily, ()
    half = len(points) // 2
    first, last = (
        float(theilslopes(written[part], days[part])[0])
        for part in (slice(None, half + 1), slice(half, None))
    )
    if min(first, last) > 0 and max(first, last) / min(first, last) < _CHANGED:
        return daily, ()
    return daily, (
        f"the host wrote {first / 1e9:.4g} GB a day in the first half of the history and "
        f"{last / 1e9:.4g} GB a day in the second: the life ahead is that of the second if it "
        "stays so",
    )
