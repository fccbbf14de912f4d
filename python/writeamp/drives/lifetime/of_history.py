"""Life of a real drive from its snapshots: percentage used at known times, and its rate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from statistics import median
from typing import Any

from writeamp.drives.counters.answer import interval_answer, life_answer
from writeamp.drives.counters.facts import Facts
from writeamp.drives.counters.snapshot import Snapshot
from writeamp.drives.lifetime.backtest import backtest_of
from writeamp.drives.lifetime.forecast import (
    ALWAYS_ON,
    DAY_S,
    LIFE_SO_FAR,
    WHOLE_PERCENT,
    YEAR_S,
    Forecast,
    latest_forecast,
    powered_share,
)
from writeamp.drives.lifetime.history import history_of
from writeamp.drives.lifetime.result import UNKNOWN, Lifetime
from writeamp.errors import WriteampError

# A log has one byte for percentage used, which stays at its highest value.
_MOST_PERCENT = 255
# Rates of the two halves of a history that differ by more than this are another use of the drive.
_CHANGED = 1.5
_FEWEST_FOR_TREND = 8
# The host's rate is of so many snapshots at most, as all pairs of them are taken.
_MOST_POINTS = 300


def lifetime_of_history(snapshots: Sequence[Snapshot]) -> Lifetime:
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
        return Lifetime(
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
        return Lifetime(UNKNOWN, warnings=(*history.warnings, *host_warnings), **common)
    warnings = (*forecast.warnings, *_evidence(last, "doubt"), *history.warnings, *host_warnings)
    if forecast.method == LIFE_SO_FAR and not history.is_by_hours:
        warnings += (_power_warning(powered_share(readings)),)
    return Lifetime(
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


def _evidence(facts: Facts, verdict: str) -> Iterator[str]:
    """Yield the evidence of checks of percentage used that have a verdict."""
    for check in facts.checks:
        if (check.name, check.verdict) == ("percentage used", verdict):
            yield check.evidence


def _years(forecast: Forecast) -> dict[str, Any]:
    seconds = forecast.seconds_to(WHOLE_PERCENT)
    low, middle, high = (None if one is None else one / YEAR_S for one in seconds)
    if middle is None:
        return {"at_least_years": low}
    return {"years": middle, "years_low": low, "years_high": high}


def _rated_cycles(facts: Facts) -> Iterator[tuple[str, str]]:
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
