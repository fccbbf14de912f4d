"""Life of a real drive from its snapshots: percentage used at known times, and its rate."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from statistics import median
from typing import Any

from writeamp.drives.counters.answer import interval_answer, life_answer
from writeamp.drives.counters.facts import CounterFacts
from writeamp.drives.counters.result import DriveCounters
from writeamp.drives.counters.snapshot import Snapshot
from writeamp.drives.lifetime.forecast import (
    ALWAYS_ON,
    LIFE_SO_FAR,
    WHOLE_PERCENT,
    WearForecast,
    backtest_of,
    latest_forecast,
    powered_share,
)
from writeamp.drives.lifetime.rates import WearReading
from writeamp.drives.lifetime.result import BY_RATING, UNKNOWN, DriveLifetime, UsedLife
from writeamp.drives.lifetime.wear_history import history_of
from writeamp.errors import WriteampError
from writeamp.units.durations import DAY_S, DAYS_A_YEAR, YEAR_S

# Percentage used is one byte in SMART logs, which saturates at this value.
_MOST_PERCENT = 255
# If the host's write rates in the two halves of a history differ by more than this factor, a
# warning reports that the use of the drive changed.
_CHANGED = 1.5
_FEWEST_FOR_TREND = 8
# Limit of snapshots for the host's write rate. All pairs of snapshots are used, so the cost grows
# with the square of their number.
_MOST_POINTS = 300


def lifetime_of_history(
    snapshots: Sequence[Snapshot], rated_tbw: float | None = None
) -> DriveLifetime:
    """Return the remaining years of a drive, from its snapshots.

    Args:
        snapshots: snapshots of one drive, in any order; a single one must have power-on hours.
        rated_tbw: rated endurance in TB; default: that of the model, if it has a rating.

    Raises:
        WriteampError: the snapshots are of several drives, lack a common clock, or have neither a
            percentage used nor a known share of a rated TBW.
    """
    for field in ("serial", "model"):
        names = dict.fromkeys(getattr(snapshot.facts, field) for snapshot in snapshots)
        if len([name for name in names if name]) > 1:
            raise WriteampError(
                f"the snapshots are of several drives: the {field} is "
                f"{' and '.join(str(name) for name in names)}. Pass those of one drive"
            )
    used = [snapshot for snapshot in snapshots if snapshot.facts.percentage_used is not None]
    if not used and life_answer(snapshots[-1], rated_tbw=rated_tbw).share_used is None:
        raise WriteampError(
            f"{_why_unknown(snapshots)}. Pass the rated endurance (--rated-tbw) of a drive that "
            "counts host writes, or for a simulated life a load (--trace or --workload, --device, "
            "--daily-writes)"
        )
    history = history_of(used or snapshots)
    readings, is_by_hours = history.readings, history.is_by_hours
    is_used_known, used = bool(used), list(history.snapshots)
    last = used[-1].facts
    percent = last.percentage_used or 0.0
    answer = life_answer(used[-1], rated_tbw=rated_tbw)
    daily, host_warnings = _host_rate(used)
    years_to_rated = _years_to_rated(answer, daily)
    common: dict[str, Any] = {
        "wa": answer.wa,
        "wa_low": answer.wa_low,
        "wa_high": answer.wa_high,
        "wa_of_interval": interval_answer(used[0], used[-1]).wa if len(used) > 1 else None,
        "host_bytes_a_day": daily,
        **answer.rated_use._asdict(),
        "years_to_rated_tbw": years_to_rated,
    }
    if not is_used_known:
        if years_to_rated is None:
            raise WriteampError(
                f"{_why_unknown(snapshots)}, and there is no rate of host writes: the snapshots "
                "are of one moment and have no power-on hours. Add a later snapshot"
            )
        note = f"{_why_unknown(snapshots)}. Years are those until the rated TBW is written"
        by_hours = () if daily else (_power_warning(1.0),)
        warnings = (note, *by_hours, *history.warnings, *host_warnings)
        return DriveLifetime(BY_RATING, years_to_rated, warnings=warnings, **common)
    common |= {
        "percentage_used": percent,
        "readings": tuple(_used_life(readings)),
        "assumptions": tuple(_rated_cycles(last)),
    }
    if percent >= WHOLE_PERCENT:
        more = " or more" if percent >= _MOST_PERCENT else ""
        note = (
            f"{percent:g}%{more} of the rated life is used: the rated life is over, but the "
            "drive may still work"
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
                "the snapshots are of one moment and have no power-on hours, so the rate of wear "
                "is unknown. Add a later snapshot"
            )
        return DriveLifetime(UNKNOWN, warnings=(*history.warnings, *host_warnings), **common)
    warnings = (*forecast.warnings, *_evidence(last, "doubt"), *history.warnings, *host_warnings)
    if forecast.method == LIFE_SO_FAR and not history.is_by_hours:
        warnings += (_power_warning(powered_share(readings)),)
    return DriveLifetime(
        forecast.method, **_years(forecast), **_wear(forecast), dominates=forecast.dominates,
        backtest=backtest_of(readings, is_by_hours=is_by_hours), warnings=warnings, **common,
    )  # fmt: skip


def years_left(snapshots: Sequence[Snapshot]) -> tuple[float, float] | None:
    """Return the 90% interval of a drive's remaining years, the one that its lifetime has.

    Returns None if the snapshots show none or only a lower bound.
    """
    if all(snapshot.facts.percentage_used is None for snapshot in snapshots):
        return None
    try:
        return lifetime_of_history(snapshots).interval
    except WriteampError:
        return None


def _years_to_rated(answer: DriveCounters, daily_bytes: float | None) -> float | None:
    """Return the years until the host has written the rated TBW; None if unknown.

    Args:
        answer: WA and rating of the drive.
        daily_bytes: bytes that the host writes a day, between snapshots; if it is None or 0, the
            mean of the power-on hours counts.
    """
    hours = answer.facts.power_on_hours
    if answer.rated_tbw is None or answer.share_used is None or answer.host is None:
        return None
    daily_bytes = daily_bytes or (24 * float(answer.host.nominal) / hours if hours else 0.0)
    left_bytes = max(1 - answer.share_used, 0.0) * answer.rated_tbw * 1e12
    return left_bytes / daily_bytes / DAYS_A_YEAR if daily_bytes else None


def _power_warning(share: float | None) -> str:
    if share is None or share > ALWAYS_ON:
        on = "is always on"
    else:
        on = f"is on for {share:.0%} of the time, as between the snapshots"
    return f"the life so far is measured in power-on hours; years assume a drive that {on}"


def _why_unknown(snapshots: Sequence[Snapshot]) -> str:
    doubts = (doubt for snapshot in snapshots for doubt in _evidence(snapshot.facts, "doubt"))
    if doubt := next(doubts, ""):
        return f"the used rated life is unknown: {doubt}"
    notes = dict.fromkeys(note for snapshot in snapshots for note in snapshot.facts.notes)
    why = "".join(f"; {note}" for note in notes)
    return f"no snapshot has the used rated life (percentage used){why}"


def _evidence(facts: CounterFacts, verdict: str) -> Iterator[str]:
    """Yield the evidence of those checks of percentage used that have this verdict."""
    for check in facts.checks:
        if (check.name, check.verdict) == ("percentage used", verdict):
            yield check.evidence


def _years(forecast: WearForecast) -> dict[str, Any]:
    seconds = forecast.seconds_to(WHOLE_PERCENT)
    low, middle, high = (None if time_s is None else time_s / YEAR_S for time_s in seconds)
    if middle is None:
        return {"at_least_years": low}
    return {"years": middle, "years_low": low, "years_high": high}


def _wear(forecast: WearForecast) -> dict[str, Any]:
    low, middle, high = (rate * YEAR_S for rate in forecast.bounds)
    return {
        "wear_a_year": middle if low > 0 else None,
        "wear_a_year_low": low or None,
        "wear_a_year_high": high if math.isfinite(high) else None,
    }


def _used_life(readings: Sequence[WearReading]) -> Iterator[UsedLife]:
    """Yield the first, each changed and the last reading, in days since the first."""
    for at, reading in enumerate(readings):
        is_end = at in (0, len(readings) - 1)
        if is_end or reading.percent != readings[at - 1].percent:
            yield UsedLife((reading.early_s - readings[0].early_s) / DAY_S, reading.percent)


def _rated_cycles(facts: CounterFacts) -> Iterator[tuple[str, str]]:
    """Yield the rated cycles that follow from the drive's erases and percentage used."""
    percent = facts.percentage_used or 0.0
    erases = next(iter(facts.erases), None)
    if erases is not None and percent > 1:
        low = erases.low / (percent + 1) * WHOLE_PERCENT
        high = erases.high / (percent - 1) * WHOLE_PERCENT
        yield (
            "rated cycles",
            f"{low:,.0f} to {high:,.0f}: {erases.low:g} erases per block ({erases.label}) are "
            f"{percent:g}% of the rated life",
        )


def _host_rate(snapshots: Sequence[Snapshot]) -> tuple[float | None, tuple[str, ...]]:
    """Return the host's bytes per day (Theil-Sen), and a warning if its rate changed."""
    points = [
        (snapshot.facts.taken_at / DAY_S, float(host.nominal))
        for snapshot in _spread_over(snapshots)
        if snapshot.facts.taken_at is not None and (host := life_answer(snapshot).host) is not None
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
        f"the host wrote {first / 1e9:.4g} GB per day in the first half of the history and "
        f"{last / 1e9:.4g} GB per day in the second. The load has changed, so the remaining life "
        "is less certain than its interval states",
    )


def _spread_over(snapshots: Sequence[Snapshot]) -> Sequence[Snapshot]:
    stride = -(-len(snapshots) // _MOST_POINTS)
    return [*snapshots[:-1:stride], snapshots[-1]]


def _median_slope(points: Sequence[tuple[float, float]]) -> float:
    """Return the Theil-Sen slope, the median of all pairs' slopes; 0 if all times are equal."""
    slopes = [
        (last[1] - first[1]) / (last[0] - first[0])
        for first, last in combinations(points, 2)
        if last[0] > first[0]
    ]
    return median(slopes) if slopes else 0.0
