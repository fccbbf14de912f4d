"""Pairs of values of two results, and whether noise explains their difference."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from writeamp.differences.documents import Interval
from writeamp.differences.names import name_of

Verdict: TypeAlias = Literal["differs", "within noise", "no interval"]
Kind: TypeAlias = Literal["found", "length of the run"]

# Counts that only reflect the length of a run, unless they have an interval; and tables that have
# only such counts.
_COUNTS = frozenset(
    {"host_pages", "flash_pages", "erases", "writes", "drive_writes", "warmup_pages"}
)
_TABLES_OF_COUNTS = ("host", "causes")


@dataclass(frozen=True)
class Setting:
    """A setting with its value in each result; None if a result does not have it."""

    key: str
    a: Any
    b: Any

    @property
    def name(self) -> str:
        """Name of the setting for readers."""
        return name_of(self.key)

    def to_dict(self) -> dict[str, Any]:
        """Return the setting as JSON types."""
        return {"key": self.key, "name": self.name, "a": self.a, "b": self.b}


@dataclass(frozen=True)
class NumberPair:
    """A metric that both results have.

    Attributes:
        key: keys of the metric in the documents, joined by ".".
        a, b: value in each result.
        a_ci95, b_ci95: 95% interval in each result, or None.
        paired_ci95: 95% interval of the difference, from replicas that share their random draws in
            pairs; or None.
    """

    key: str
    a: float
    b: float
    a_ci95: Interval | None
    b_ci95: Interval | None
    paired_ci95: Interval | None = None

    @property
    def name(self) -> str:
        """Name of the metric for readers."""
        return name_of(self.key)

    @property
    def relative(self) -> float | None:
        """Difference as a share of the first value; None if that is 0, or on overflow."""
        return _finite(self.difference / self.a) if self.a else None

    @property
    def weight(self) -> tuple[int, float]:
        """Sort key: larger relative differences come first, those within noise last."""
        groups = ("differs", "no interval", "within noise")
        share = math.inf if self.relative is None else abs(self.relative)
        return groups.index(self.verdict), -share

    @property
    def difference(self) -> float:
        """Second value minus first value."""
        return self.b - self.a

    @property
    def difference_ci95(self) -> Interval | None:
        """95% interval of the difference, or None if one result has no interval.

        Without `paired_ci95`, it is that of independent results.
        """
        if self.paired_ci95 is not None:
            return self.paired_ci95
        if self.a_ci95 is None or self.b_ci95 is None:
            return None
        low = math.hypot(self.b - self.b_ci95[0], self.a_ci95[1] - self.a)
        high = math.hypot(self.b_ci95[1] - self.b, self.a - self.a_ci95[0])
        return self.difference - low, self.difference + high

    @property
    def kind(self) -> Kind:
        """Whether the metric mainly reflects how long the run was.

        "length of the run" for a count without a 95% interval, otherwise "found".
        """
        *tables, name = self.key.split(".")
        table = tables[-1].partition("[")[0] if tables else ""
        is_of_handle = table == "handles" and name != "wa"
        is_count = name in _COUNTS or table in _TABLES_OF_COUNTS or is_of_handle
        has_interval = self.a_ci95 is not None or self.b_ci95 is not None
        return "length of the run" if is_count and not has_interval else "found"

    @property
    def verdict(self) -> Verdict:
        """Whether noise explains the difference.

        "within noise" if the 95% interval of the difference contains 0, "differs" if it does not,
        and "no interval" if a result has none.
        """
        bounds = self.difference_ci95
        if bounds is None:
            return "no interval"
        return "within noise" if bounds[0] <= 0 <= bounds[1] else "differs"

    def to_dict(self) -> dict[str, Any]:
        """Return the pair as JSON types, with None in place of numbers that overflowed."""
        bounds = self.difference_ci95
        is_held = bounds is not None and all(map(math.isfinite, bounds))
        return {
            "key": self.key,
            "name": self.name,
            "a": self.a,
            "b": self.b,
            "a_ci95": self.a_ci95,
            "b_ci95": self.b_ci95,
            "difference": _finite(self.difference),
            "difference_ci95": bounds if is_held else None,
            "relative": self.relative,
            "verdict": self.verdict,
            "kind": self.kind,
        }


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
