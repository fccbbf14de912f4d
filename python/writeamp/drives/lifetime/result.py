"""Lifetime: years until a drive's rated life is used, with bounds and what they depend on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from writeamp.results.card import Card, Presented
from writeamp.results.numbers import bounds_in_words

# Probability of the interval of the years that a real drive has left.
LEVEL = 0.9
SIMULATION, UNKNOWN = "simulation", "unknown"
# From here on four digits would be printed as a power of ten.
_FOUR_DIGITS_GB = 1e4


@dataclass(frozen=True)
class WhatIf:
    """Change of the drive or the load, with WA and years of it, or why it does not apply."""

    change: str
    wa: float | None
    years: float | None
    reason: str = ""


@dataclass(frozen=True)
class Backtest:
    """Forecasts of a step of percentage used by readings before it, and how many held."""

    percent: float
    forecasts: int
    held: int


@dataclass(frozen=True)
class DriveLifetime(Presented):
    """Years until the rated life of a drive is used.

    Attributes:
        method: what the answer is from: "simulation", "steps of percentage used", "no step of
            percentage used", "life so far", "percentage used" (100% and more) or "unknown".
        years, years_low, years_high: from now, or from new of a simulation; None if unknown. The
            interval of a real drive has the probability `LEVEL`.
        at_least_years: lower bound, if only that is known; None otherwise.
        wa, wa_low, wa_high: of the load, or of the drive since it was new; None if unknown.
        wa_of_interval: of the drive between its first snapshot and its last; None if unknown.
        dwpd: drive writes a day over the warranty that the drive endures under this load.
        tbw: terabytes (10**12 bytes) of the host that it endures under this load.
        percentage_used_a_year: of the rated erases, by a year of a load; None of a real drive.
        host_bytes_a_day: what the host writes, of a drive between its snapshots.
        dominates: what the bounds depend on most.
        what_if: changes of the drive or the load, and what they would make of it.
        assumptions: facts that the answer rests on, by name.
        warnings: sentences about what may be wrong.
        backtest: of a history, how often its intervals held; None without a step.
    """

    method: str
    years: float | None = None
    years_low: float | None = None
    years_high: float | None = None
    at_least_years: float | None = None
    wa: float | None = None
    wa_low: float | None = None
    wa_high: float | None = None
    wa_of_interval: float | None = None
    dwpd: float | None = None
    tbw: float | None = None
    percentage_used_a_year: float | None = None
    host_bytes_a_day: float | None = None
    dominates: str = ""
    what_if: tuple[WhatIf, ...] = ()
    assumptions: tuple[tuple[str, str], ...] = ()
    warnings: tuple[str, ...] = ()
    backtest: Backtest | None = None

    @property
    def is_of_load(self) -> bool:
        """Whether it is of a new drive under a load, and not of what a real one has left."""
        return self.method == SIMULATION

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Bounds of the years of a load, by those of the rated cycles; None of a real drive."""
        return self._years_within if self.is_of_load else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Interval of the years that a real drive has left; None if an end is unknown."""
        return None if self.is_of_load else self._years_within

    @property
    def level(self) -> float | None:
        """Probability of `interval`; None without one."""
        return None if self.interval is None else LEVEL

    @property
    def _years_within(self) -> tuple[float, float] | None:
        if self.years_low is None or self.years_high is None:
            return None
        return self.years_low, self.years_high

    def to_dict(self) -> dict[str, Any]:
        """Return the lifetime as JSON types."""
        found = dict(vars(self))
        found["what_if"] = [dict(vars(one)) for one in self.what_if]
        found["assumptions"] = dict(self.assumptions)
        found["warnings"] = list(self.warnings)
        found["backtest"] = None if self.backtest is None else dict(vars(self.backtest))
        return found

    def card(self) -> Card:
        """Return the years and what they rest on, and what changes would make of them."""
        rows = []
        years = "years" if self.is_of_load else "years left"
        if self.years is not None:
            within = f"{self.years_low:.4g} to {self.years_high:.4g}"
            interval = "" if self.is_of_load or not self.years_high else f"{LEVEL:.0%} interval: "
            rows.append((years, f"{self.years:.4g} ({interval}{within})"))
        if self.at_least_years is not None:
            rows.append((years, f"at least {self.at_least_years:.4g}"))
        if self.method == UNKNOWN:
            rows.append((years, UNKNOWN))
        rows.append(("by", self.method))
        rows += [("bounds depend most on", self.dominates)] if self.dominates else []
        if self.backtest is not None:
            past = self.backtest
            rows.append(
                (
                    "backtest",
                    f"{past.held} of {past.forecasts} earlier forecasts of when "
                    f"{past.percent:g}% was reached held",
                )
            )
        wa = "WA" if self.is_of_load else "WA since new"
        said = bounds_in_words(self.wa_low, self.wa_high) if self.wa is None else f"{self.wa:.4g}"
        rows += [(wa, said)] if said else []
        if self.wa_of_interval is not None:
            rows.append(("WA of the interval", f"{self.wa_of_interval:.4g}"))
        rows += [("TBW under this load", f"{self.tbw:,.4g} TB")] if self.tbw is not None else []
        rows += [("DWPD over five years", f"{self.dwpd:.4g}")] if self.dwpd is not None else []
        if self.percentage_used_a_year is not None:
            rows.append(("percentage used a year", f"{self.percentage_used_a_year:.3g}%"))
        if self.host_bytes_a_day is not None:
            of = "" if self.is_of_load else " of the interval"
            rows.append((f"host writes a day{of}", f"{_gigabytes(self.host_bytes_a_day)} GB"))
        rows += [(f"assumed: {name}", what) for name, what in self.assumptions]
        what_if = [
            (
                one.change,
                "" if one.wa is None else f"{one.wa:.4g}",
                "" if one.years is None else f"{one.years:.4g}",
                one.reason,
            )
            for one in self.what_if
        ]
        columns = ("what if", "WA", "years", "")
        part = Card("What if", what_if, columns, is_ruled=False)
        return Card("Lifetime", rows, warnings=self.warnings, parts=[part] if what_if else [])


def _gigabytes(size_bytes: float) -> str:
    gigabytes = size_bytes / 1e9
    return f"{gigabytes:,.0f}" if gigabytes >= _FOUR_DIGITS_GB else f"{gigabytes:.4g}"
