"""Interface of advice: changes of one kind, of which the best is simulated and told."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from writeamp.answers.case import Case
from writeamp.answers.question import Question
from writeamp.results.any_result import AnyResult


@dataclass(frozen=True, eq=False)
class Change:
    """A change of the drive, its policy or its host: in words, what it costs, and its case.

    `name` tells it from others of its kind, on whatever drive.
    """

    words: str
    costs: str
    case: Case
    name: str = ""


@dataclass(frozen=True)
class Kind:
    """A kind of change; `changes` returns those to try, none where it does not apply."""

    name: str
    changes: Callable[[Question], Iterable[Change]]


@dataclass(frozen=True)
class Advice(AnyResult):
    """A change that makes it less: WA with it, and of the same requests without it."""

    change: str
    wa: float
    interval: tuple[float, float]
    wa_now: float
    costs: str

    @property
    def ci(self) -> tuple[float, float]:
        """The 95% interval of `wa`."""
        return self.interval

    def to_dict(self) -> dict[str, Any]:
        """Return the advice as JSON types."""
        found = dict(vars(self))
        bounds = found.pop("interval")
        return found | {"wa_ci95": None if math.isnan(bounds[0]) else list(bounds)}
