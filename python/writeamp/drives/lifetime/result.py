"""Lifetime: years until a drive's rated life is used, with bounds and their causes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from writeamp.drives.counters.rated import RatedUse, rated_rows
from writeamp.results.card import Card, Presented
from writeamp.results.numbers import MORE, bounds_in_words, range_of, years_in_words
from writeamp.runs.partial_pages import differs

# Probability of the interval of a real drive's remaining years.
LEVEL = 0.9
SIMULATION, BY_RATING, UNKNOWN = "simulation", "rated TBW", "unknown"
# A smaller change of the life is shown as none.
_LEAST_EFFECT = 0.005
# Most readings that the card shows; --json has all.
_MOST_READINGS = 10
# Numbers from here on would be printed as a power of ten if rounded to four digits.
_FOUR_DIGITS_GB = 1e4
_OF_JESD219 = ("tbw", "dwpd", "wa_bytes")


@dataclass(frozen=True)
class WhatIf:
    """Change of the drive or the load, with the resulting WA and years, or why it cannot apply."""

    change: str
    wa: float | None
    years: float | None
    reason: str = ""


@dataclass(frozen=True)
class Backtest:
    """Number of forecasts of a step of percentage used, and how many of them were right."""

    percent: float
    forecasts: int
    held: int


@dataclass(frozen=True)
class UsedLife:
    """Reading of percentage used, so many days after the first reading."""

    days: float
    percentage_used: float


@dataclass(frozen=True)
class DriveLifetime(Presented):
    """Years until the rated life of a drive is used.

    Attributes:
        method: source of the answer: "simulation", "steps of percentage used", "no step of
            percentage used", "life so far", "percentage used" (100% and more), "rated TBW" (years
            until the host has written it, if percentage used is unknown) or "unknown".
        years, years_low, years_high: from now, or from new for a simulation; None if unknown. The
            interval of a real drive has the probability `LEVEL`.
        at_least_years: lower bound, if only that is known; otherwise None.
        wa, wa_low, wa_high: WA and its bounds, of the load, or of the drive since it was new; None
            if unknown.
        wa_bytes: bytes programmed per byte that the host writes, of the load; it exceeds `wa` if
            requests cover pages in part. None for a real drive.
        wa_of_interval: WA of the drive between its first and last snapshot; None if unknown.
        dwpd: drive writes per day that the drive endures over a warranty of five years under this
            load.
        tbw: terabytes (10**12 bytes) of host writes that the drive endures under this load.
        jesd219: `tbw`, `dwpd` and `wa_bytes` (WA per host byte) under JESD219, the workload of
            ratings; None for a real drive.
        rating_wa: WA that the TBW in the profile's data sheet implies at the rated cycles; None if
            there is none.
        percentage_used_a_year: share of the rated erases used per year of a load, in percent; None
            for a real drive.
        percentage_used: rated life that a real drive has used, in percent; None for a load.
        wear_a_year, wear_a_year_low, wear_a_year_high: rate of wear of a real drive that the
            forecast continues, in percent of the rated life per year; None if unknown.
        readings: readings of percentage used from which the rate is computed, without those that
            repeat the previous one.
        host_bytes_a_day: host bytes per day; for a real drive, between its snapshots.
        rated_tbw, share_used, rated_source, warranty_years: see `RatedUse`; None for a load.
        years_to_rated_tbw: years until the host has written the rated TBW at its present rate, or
            at that of the life so far; None if unknown.
        dominates: main cause of the width of the bounds.
        what_if: changes of the drive or the load, with their effects; in `to_dict`, `years_change`
            is the change of `years` as a share.
        assumptions: facts behind the answer, by name.
        warnings: sentences about possible errors.
        backtest: for a history, how many forecasts from its earlier part were right; None without a
            step of percentage used.
    """

    method: str
    years: float | None = None
    years_low: float | None = None
    years_high: float | None = None
    at_least_years: float | None = None
    wa: float | None = None
    wa_low: float | None = None
    wa_high: float | None = None
    wa_bytes: float | None = None
    wa_of_interval: float | None = None
    dwpd: float | None = None
    tbw: float | None = None
    jesd219: Mapping[str, float] | None = None
    rating_wa: float | None = None
    percentage_used_a_year: float | None = None
    percentage_used: float | None = None
    wear_a_year: float | None = None
    wear_a_year_low: float | None = None
    wear_a_year_high: float | None = None
    readings: tuple[UsedLife, ...] = ()
    host_bytes_a_day: float | None = None
    rated_tbw: float | None = None
    share_used: float | None = None
    rated_source: str | None = None
    warranty_years: int | None = None
    years_to_rated_tbw: float | None = None
    dominates: str = ""
    what_if: tuple[WhatIf, ...] = ()
    assumptions: tuple[tuple[str, str], ...] = ()
    warnings: tuple[str, ...] = ()
    backtest: Backtest | None = None

    @property
    def is_of_load(self) -> bool:
        """Whether it is the life of a new drive under a load, not that of a real drive."""
        return self.method == SIMULATION

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Bounds of the years, from those of the rated cycles; None for a real drive."""
        return self._years_within if self.is_of_load else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Interval of the remaining years of a real drive; None if one end is unknown."""
        return None if self.is_of_load else self._years_within

    @property
    def level(self) -> float | None:
        """Probability that `interval` contains the remaining years; None without an interval."""
        return None if self.interval is None else LEVEL

    @property
    def _years_within(self) -> tuple[float, float] | None:
        if self.years_low is None or self.years_high is None:
            return None
        return self.years_low, self.years_high

    @property
    def years_text(self) -> str:
        """The years with their bounds as text; no more than "more than 100 at this rate"."""
        if self.years is None:
            if self.at_least_years is None:
                return UNKNOWN
            least = years_in_words(self.at_least_years)
            return f"{'' if least.startswith(MORE) else 'at least '}{least}"
        middle, within = years_in_words(self.years), self._years_within
        around = middle if within is None else years_in_words(*within)
        if around == middle:
            return f"{middle} at this rate" if middle.startswith(MORE) else middle
        interval = "" if self.is_of_load else f"{LEVEL:.0%} interval: "
        return f"{middle} ({interval}{around})"

    def to_dict(self) -> dict[str, Any]:
        """Return the lifetime as JSON types."""
        record = dict(vars(self))
        record["what_if"] = [
            {**vars(change), "years_change": self._effect_of(change)} for change in self.what_if
        ]
        record["readings"] = [dict(vars(reading)) for reading in self.readings]
        record["assumptions"] = dict(self.assumptions)
        record["warnings"] = list(self.warnings)
        record["backtest"] = None if self.backtest is None else dict(vars(self.backtest))
        return record

    def _effect_of(self, change: WhatIf) -> float | None:
        """Return the relative change of the life; negative if the change shortens it."""
        return None if change.years is None or not self.years else change.years / self.years - 1

    def card(self) -> Card:
        """Return the years with their causes, and the effects of changes."""
        rows: list[tuple[str, str]] = []
        years = "years" if self.is_of_load else "years left"
        rows.append((years, self.years_text))
        rows.append(("method", self.method))
        if self.percentage_used is not None:
            rows.append(("rated life used", f"{self.percentage_used:g}%"))
        rows += rated_rows(
            RatedUse(self.rated_tbw, self.share_used, self.rated_source, self.warranty_years)
        )
        if self.years_to_rated_tbw is not None and self.method != BY_RATING:
            rows.append(("years to the rated TBW", years_in_words(self.years_to_rated_tbw)))
        if self.wear_a_year is not None:
            within = range_of(self.wear_a_year_low or 0.0, self.wear_a_year_high or 0.0, ".3g")
            interval = f" ({LEVEL:.0%} interval: {within})" if within else ""
            rows.append(
                ("rate of wear", f"{self.wear_a_year:.3g}% of the rated life per year{interval}")
            )
        rows += [("bounds depend most on", self.dominates)] if self.dominates else []
        if self.backtest is not None:
            past = self.backtest
            rows.append(
                (
                    "backtest",
                    f"{past.held} of {past.forecasts} forecasts from earlier readings contain the "
                    f"time when {past.percent:g}% used was reached",
                )
            )
        wa = "WA" if self.is_of_load else "WA since new"
        wa_text = (
            bounds_in_words(self.wa_low, self.wa_high) if self.wa is None else f"{self.wa:.4g}"
        )
        rows += [(wa, wa_text)] if wa_text else []
        if self.wa and self.wa_bytes and differs(self.wa_bytes / self.wa):
            rows.append(("WA per host byte", f"{self.wa_bytes:.4g}"))
        if self.wa_of_interval is not None:
            rows.append(("WA between the snapshots", f"{self.wa_of_interval:.4g}"))
        rows += [("TBW under this load", f"{self.tbw:,.4g} TB")] if self.tbw is not None else []
        rows += [("DWPD over five years", f"{self.dwpd:.4g}")] if self.dwpd is not None else []
        if self.jesd219 is not None:
            tbw, dwpd, wa_bytes = (f"{self.jesd219[key]:,.4g}" for key in _OF_JESD219)
            rows.append(
                ("under JESD219", f"TBW {tbw} TB, DWPD {dwpd}, WA per host byte {wa_bytes}")
            )
        if self.rating_wa is not None:
            rows.append(("WA of the data sheet's TBW", f"{self.rating_wa:.4g}"))
        if self.percentage_used_a_year is not None:
            rows.append(("rated life used per year", f"{self.percentage_used_a_year:.3g}%"))
        if self.host_bytes_a_day is not None:
            scope = "" if self.is_of_load else " between the snapshots"
            rows.append(("host writes per day", f"{gigabytes(self.host_bytes_a_day)} GB{scope}"))
        rows += [(f"assumed: {name}", text) for name, text in self.assumptions]
        what_if = [
            (
                change.change,
                "" if change.wa is None else f"{change.wa:.4g}",
                "" if change.years is None else years_in_words(change.years),
                _effect_in_words(self._effect_of(change)),
                change.reason,
            )
            for change in self.what_if
        ]
        columns = ("what if", ">WA", "years", "change of the life", "reason")
        changes = Card("What if", what_if, columns, is_ruled=False)
        tables = [table for table in (changes, self._reading_card()) if table.rows]
        return Card("Lifetime", rows, warnings=self.warnings, parts=tables)

    def _reading_card(self) -> Card:
        """Return the last readings; a single one is in the facts."""
        last = self.readings[-1].days if self.readings else 0.0
        rows = [
            (f"{last - reading.days:,.4g}", f"{reading.percentage_used:g}%")
            for reading in self.readings[-_MOST_READINGS:]
        ]
        columns = (">days before the last reading", ">rated life used")
        return Card("Readings", rows if len(rows) > 1 else [], columns, is_ruled=False)


def _effect_in_words(share: float | None) -> str:
    if share is None:
        return ""
    if abs(share) < _LEAST_EFFECT:
        return "none"
    return f"{share:+.0%}" + (", worse" if share < 0 else "")


def gigabytes(size_bytes: float) -> str:
    """Return bytes as a number of gigabytes."""
    gigabytes = size_bytes / 1e9
    return f"{gigabytes:,.0f}" if gigabytes >= _FOUR_DIGITS_GB else f"{gigabytes:.4g}"
