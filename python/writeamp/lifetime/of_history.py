"""Life of a real drive from its snapshots: the times at which percentage used stepped.

Percentage used is a whole number, so that nothing is fitted to its values: at a step it is exact,
within the gap between two readings. What lies between steps bounds the rate, and where there are
none the answer is a least life.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.stats import theilslopes  # type: ignore[import-untyped]

from writeamp.errors import WriteampError
from writeamp.lifetime.backtest import backtest_of
from writeamp.lifetime.rates import LIFE_SO_FAR, rate_of
from writeamp.lifetime.result import Lifetime
from writeamp.measure.counters.answer import interval_answer, life_answer
from writeamp.measure.counters.clocks import Clock, common_clock
from writeamp.measure.counters.facts import Facts
from writeamp.measure.counters.snapshot import Snapshot

_YEAR_S = 365 * 86_400.0
_DAY_S = 86_400.0
_BY_HOURS = (
    "the snapshots do not say when they were taken: times are power-on hours, and years those of a "
    "drive that is never off"
)
_BY_LIFE = (
    "the life so far is counted in power-on hours: years are those of a drive that is never off"
)
_WHOLE = 100.0
# Rates of the two halves of a history that differ by more than this are another use of the drive.
_CHANGED = 1.5
_FEWEST_FOR_TREND = 8


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
    used, clock = _timed(used)
    last = used[-1].facts
    percent = last.percentage_used or 0.0
    answer = life_answer(used[-1])
    common: dict[str, Any] = {
        "wa": answer.wa,
        "wa_low": answer.wa_low,
        "wa_high": answer.wa_high,
        "wa_of_interval": interval_answer(used[0], used[-1]).wa if len(used) > 1 else None,
        "backtest": backtest_of([one.facts for one in used]),
        "assumptions": tuple(_rated_cycles(last)),
    }
    daily, warnings = _host_rate(used)
    warnings += (_BY_HOURS,) if clock.is_powered_on else ()
    warnings += (clock.doubt,) if clock.doubt else ()
    rate = rate_of([one.facts for one in used])
    if rate.method == LIFE_SO_FAR and not clock.is_powered_on:
        warnings += (_BY_LIFE,)
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


def _timed(snapshots: list[Snapshot]) -> tuple[list[Snapshot], Clock]:
    """Return snapshots in order of time, with times of the clock that they have in common.

    Raises:
        WriteampError: several of them have no common clock.
    """
    if len(snapshots) == 1:
        return snapshots, Clock(())
    clock = common_clock([one.facts for one in snapshots])
    if not clock.seconds:
        said = "the snapshots say neither when they were taken nor the power-on hours, all of them"
        raise WriteampError(
            f"{clock.doubt or said}; `measure save` and `measure watch` keep the time"
        )
    timed = [
        replace(one, facts=replace(one.facts, taken_at=at_s))
        for one, at_s in zip(snapshots, clock.seconds, strict=True)
    ]
    return sorted(timed, key=lambda one: one.facts.taken_at or 0.0), clock


def _rated_cycles(facts: Facts) -> Iterator[tuple[str, str]]:
    """Yield the cycles that the drive's own erases and percentage used say it is rated for."""
    percent = facts.percentage_used or 0.0
    erases = next(iter(facts.erases), None)
    if erases is not None and percent > 1:
        low, high = erases.low / (percent + 1) * _WHOLE, erases.high / (percent - 1) * _WHOLE
        yield (
            "rated cycles",
            f"{low:,.0f} to {high:,.0f}: {erases.low:g} erases ({erases.label}) are {percent:g}%",
        )


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
