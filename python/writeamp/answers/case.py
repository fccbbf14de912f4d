"""Case: settings of one run, which can be switched one at a time, and the WA of the run."""

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
from writeamp.runs.substitute import NO_SUBSTITUTE, Substitute
from writeamp.runs.timed.result import TimedResult
from writeamp.runs.timed.run import run_timed
from writeamp.studies.mixture import Mixture


@dataclass(frozen=True, eq=False)
class Case:
    """Settings of a run: its load, its drive, and whether it is timed.

    Attributes:
        plan: load, policy and length of the run.
        drive: the drive.
        held_pages: logical pages that hold data.
        is_timed: True for a run in virtual time.
        per_byte: True to divide flash bytes by the bytes that the host requested, as counters of
            drives do.
        share_of_pages: ratio of the pages that the host writes to those that it originally wrote
            for the same data. WA is multiplied by it, so that it counts the original pages.
        is_pass: True for one pass over a trace. Its variation is not random, so WA has no
            confidence interval.
        programmed: flash pages programmed for each cause in the timed run from which this case is
            derived; empty for other cases.
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
        """Return the case with other values in the drive's tables of times.

        Args:
            changes: new values, each named by table and key as `table__key`.
        """
        tables = tables_of(self.drive.times_json)
        for place, value in changes.items():
            table, key = place.split("__")
            tables.setdefault(table, {})[key] = value
        return replace(
            self, drive=replace(self.drive, times_json=canonical(tables, self.drive.name))
        )

    def with_plan(self, **changes: Any) -> Case:
        """Return the case with fields of its plan replaced."""
        return replace(self, plan=replace(self.plan, **changes))

    @property
    def times(self) -> Mapping[str, Any]:
        """The drive's tables of times."""
        return self.drive.times or {}


@dataclass(frozen=True)
class MeasuredCase:
    """WA of a case and its 95% interval (NaN if the run is too short, or one pass over a trace).

    `level` is the probability of a learnt profile's interval, and None for a single drive.
    """

    wa: float
    error_bar: tuple[float, float]
    result: Result | TimedResult | None = field(default=None, compare=False)
    level: float | None = None

    @staticmethod
    def of(mixture: Mixture, result: Result | None = None) -> MeasuredCase:
        """Return WA of a learnt profile's mixture."""
        return MeasuredCase(mixture.wa, mixture.interval, result, mixture.level)

    @property
    def is_steady(self) -> bool:
        """Whether the run reached a steady state; False if it is unknown."""
        return self.result is not None and self.result.steady

    def as_fields(self, scaling: Substitute = NO_SUBSTITUTE) -> dict[str, Any]:
        """Return the interval as keyword arguments of a result: `ci`, or `interval` and `level`.

        Args:
            scaling: relation to the requested drive; its error widens the interval.
        """
        widened = scaling.widened(self.error_bar)
        return {"ci": widened} if self.level is None else {"interval": widened, "level": self.level}


def run_case(case: Case) -> MeasuredCase:
    """Run a case and return its WA."""
    result = (run_timed if case.is_timed else run)(case.plan, case.drive)
    factor = case.share_of_pages * (result.partial_page_factor if case.per_byte else 1.0)
    low, high = (math.nan, math.nan) if case.is_pass else result.ci
    return MeasuredCase(result.wa * factor, (low * factor, high * factor), result)
