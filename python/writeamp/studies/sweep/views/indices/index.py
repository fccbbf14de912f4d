"""Sensitivity index: one number for how much an axis matters, with its interval."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from writeamp.results.any_result import AnyResult
from writeamp.results.numbers import json_number

Measure: TypeAlias = Literal["first_order", "total", "mu_star", "sigma"]


@dataclass(frozen=True)
class Index(AnyResult):
    """Sensitivity index of an axis with its 95% interval; NaN where there is none."""

    axis: str
    measure: Measure
    value: float
    low: float = math.nan
    high: float = math.nan

    @property
    def ci(self) -> tuple[float, float]:
        """The 95% interval of the value: `low` to `high`."""
        return self.low, self.high

    @staticmethod
    def around(axis: str, measure: Measure, value: float, half_width: float) -> Index:
        """Return an index with an interval to both sides."""
        return Index(axis, measure, float(value), float(value - half_width),
                     float(value + half_width))  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON types; null for NaN."""
        numbers = {"value": self.value, "low": self.low, "high": self.high}
        known = {name: json_number(one) for name, one in numbers.items()}
        return {"axis": self.axis, "measure": self.measure} | known
