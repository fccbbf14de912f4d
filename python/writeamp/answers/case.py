"""Case: one run of which one thing can be switched at a time, and its WA."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from writeamp.devices.device import Device
from writeamp.devices.times import canonical, tables_of
from writeamp.runs.plan import Plan
from writeamp.runs.runner import run
from writeamp.runs.simulation_result import Result
from writeamp.runs.timed.result import TimedResult
from writeamp.runs.timed.run import run_timed
from writeamp.studies.mixture import Mixture


@dataclass(frozen=True, eq=False)
class Case:
    """A run: what is written to which drive, with time or without.

    `held_pages` of the drive hold data. Of a timed run, `programmed` are the pages by cause that
    the run of which it is a variant programmed. `per_byte` divides by the bytes that the host asked
    to write, as counters of drives do; `share_of_pages` multiplies WA of a host that writes fewer
    pages for the same data. What is one pass over a trace `is_pass`: what differs within it is the
    trace, and no chance, so that it has no interval.
    """

    plan: Plan
    drive: Device
    held_pages: int
    is_timed: bool = False
    per_byte: bool = False
    share_of_pages: float = 1.0
    is_pass: bool = False
    programmed: Mapping[str, int] = field(default_factory=dict)

    def with_times(self, **changes: Any) -> Case:
        """Return the case with values of the drive's tables of times replaced.

        Args:
            changes: values by table and key, joined by "__".
        """
        tables = tables_of(self.drive.times_json)
        for place, value in changes.items():
            table, key = place.split("__")
            tables.setdefault(table, {})[key] = value
        return replace(
            self, drive=replace(self.drive, times_json=canonical(tables, self.drive.name))
        )

    def with_plan(self, **changes: Any) -> Case:
        """Return the case with parts of its plan replaced."""
        return replace(self, plan=replace(self.plan, **changes))

    @property
    def times(self) -> Mapping[str, Any]:
        """The drive's tables of times."""
        return self.drive.times or {}


@dataclass(frozen=True)
class MeasuredCase:
    """WA of a case, and its 95% interval; NaN of too short a run.

    `level` is the probability of the interval of a learnt profile, and None of a drive.
    """

    wa: float
    error_bar: tuple[float, float]
    result: Result | TimedResult | None = field(default=None, compare=False)
    level: float | None = None

    @staticmethod
    def of(mixture: Mixture, result: Result | None = None) -> MeasuredCase:
        """Return the WA of a learnt profile."""
        return MeasuredCase(mixture.wa, mixture.interval, result, mixture.level)

    @property
    def as_fields(self) -> dict[str, Any]:
        """Interval as keywords of a result: `ci`, or `interval` and `level`."""
        if self.level is None:
            return {"ci": self.error_bar}
        return {"interval": self.error_bar, "level": self.level}


def run_case(case: Case) -> MeasuredCase:
    """Run a case."""
    result = (run_timed if case.is_timed else run)(case.plan, case.drive)
    factor = case.share_of_pages * (result.partial_page_factor if case.per_byte else 1.0)
    low, high = (math.nan, math.nan) if case.is_pass else result.ci
    return MeasuredCase(result.wa * factor, (low * factor, high * factor), result)
