"""WayRow of the table: what one way answers, or why it cannot."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from writeamp.results.any_result import AnyResult
from writeamp.results.numbers import json_number

# A reason begins so if the WA is that of the window that was looked at, and may not last.
NOT_STEADY = "not steady"
_KINDS = ("formula", "mean-field", "simulate", "timed", "virtual", "real")


@dataclass(frozen=True, eq=False)
class WayRow(AnyResult):
    """Answer of one way.

    Attributes:
        way: its kind, and more where there are several of one kind.
        wa: flash pages programmed for each page that the host writes; NaN if it cannot tell.
        interval: 95% interval of it; NaN of a computed number or of too short a run.
        seconds: that the way took.
        assumes: what it takes for granted.
        reason: why there is no answer, or why it may not hold; "" where all is well.
    """

    way: str
    wa: float
    interval: tuple[float, float]
    seconds: float = field(compare=False)
    assumes: str
    reason: str = ""

    @staticmethod
    def without(way: str, assumes: str, reason: str, seconds: float = 0.0) -> WayRow:
        """Return the row of a way that cannot answer."""
        return WayRow(way, math.nan, (math.nan, math.nan), seconds, assumes, reason)

    @property
    def ci(self) -> tuple[float, float]:
        """The 95% interval of `wa`; NaN of a computed number or of too short a run."""
        return self.interval

    @property
    def kind(self) -> str:
        """Kind of the way: "formula", "mean-field", "simulate", "timed", "virtual" or "real"."""
        return next(kind for kind in _KINDS if self.way.startswith(kind))

    @property
    def answers(self) -> bool:
        """True if there is a WA."""
        return not math.isnan(self.wa)

    @property
    def is_steady(self) -> bool:
        """False if its run had not come to a steady state."""
        return not self.reason.startswith(NOT_STEADY)

    @property
    def bounds(self) -> tuple[float, float]:
        """The interval, or the number itself twice where it has none."""
        return (self.wa, self.wa) if math.isnan(self.ci[0]) else self.ci

    def to_dict(self) -> dict[str, Any]:
        """Return the row as JSON types."""
        low, high = self.ci
        return {
            "way": self.way,
            "wa": json_number(self.wa),
            "wa_ci95": None if math.isnan(low) else [low, high],
            "seconds": self.seconds,
            "assumes": self.assumes,
            "reason": self.reason,
        }
