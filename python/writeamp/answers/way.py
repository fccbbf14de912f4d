"""Interface of a method (way) of `answer`: its rows, and the findings for later methods."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from writeamp.answers.case import Case
from writeamp.answers.question import Question, SimulatedQuestion
from writeamp.results.any_result import AnyResult
from writeamp.results.numbers import json_number, range_in_words
from writeamp.runners import Progress
from writeamp.vssd.result import ServeResult


@dataclass(frozen=True, eq=False)
class Findings:
    """Results of methods that later methods, causes and changes use.

    Attributes:
        simulated: the question with its simulation; None before the simulation.
        timed: settings of the run in virtual time; None before that run, or without one.
        served: result of the virtual drive; None before its run, or without one.
        notes: sentences on assumptions and omissions.
    """

    simulated: SimulatedQuestion | None = None
    timed: Case | None = None
    served: ServeResult | None = None
    notes: tuple[str, ...] = ()

    def joined(self, later: Findings) -> Findings:
        """Return these findings merged with a later method's findings, which take precedence."""
        return Findings(
            later.simulated or self.simulated,
            later.timed or self.timed,
            later.served or self.served,
            (*self.notes, *later.notes),
        )


@dataclass(frozen=True, eq=False)
class WayRow(AnyResult):
    """Answer of one method.

    Attributes:
        way: name of the row: its kind, and the model if there are several models of the kind.
        kind: "formula", "mean-field", "simulate", "timed", "virtual", "real", or the name of a
            method of another package.
        wa: flash pages programmed per page that the host writes; NaN without an answer.
        seconds: run time of the method in seconds.
        assumes: assumptions of the method.
        reason: why the answer is missing or may be wrong; "" otherwise.
        is_steady: False if the run did not reach a steady state, so that `wa` may change.
        findings: results for later methods, which are not shown.
        ci: 95% confidence interval of `wa`; NaN if the run is too short, None if `wa` is computed.
        bounds: lowest and highest WA that the counters of a real drive allow.
        interval, level: interval of `wa` of a learnt profile, and the probability of the interval.
    """

    COLUMNS: ClassVar[tuple[str, ...]] = ("way", ">WA", "interval", ">seconds", "")

    way: str
    kind: str
    wa: float
    seconds: float = field(compare=False)
    assumes: str
    reason: str = ""
    is_steady: bool = True
    findings: Findings = field(default=Findings(), compare=False, repr=False)
    ci: tuple[float, float] | None = None
    bounds: tuple[float, float] | None = None
    interval: tuple[float, float] | None = None
    level: float | None = None

    @staticmethod
    def without(way: str, kind: str, assumes: str, reason: str, seconds: float = 0.0) -> WayRow:
        """Return the row of a method that has no answer."""
        return WayRow(way, kind, math.nan, seconds, assumes, reason)

    @property
    def answers(self) -> bool:
        """Whether the row has a WA."""
        return not math.isnan(self.wa)

    @property
    def ends(self) -> tuple[float, float]:
        """Ends of the error bar, or (`wa`, `wa`) without an error bar."""
        return (self.wa, self.wa) if math.isnan(self.error_bar[0]) else self.error_bar

    @property
    def cells(self) -> tuple[str, ...]:
        """Cells of the row in a table with the columns `COLUMNS`."""
        low, high = self.error_bar
        return (
            self.way,
            f"{self.wa:.4f}" if self.answers else "–",
            "" if math.isnan(low) else range_in_words(low, high),
            f"{self.seconds:.2f}",
            self.reason or f"assumes {self.assumes}",
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the row as JSON types."""
        low, high = self.error_bar
        return {
            "way": self.way,
            "wa": json_number(self.wa),
            "wa_ci95": None if math.isnan(low) else [low, high],
            "seconds": self.seconds,
            "assumes": self.assumes,
            "reason": self.reason,
        }


@dataclass(frozen=True)
class Way:
    """A method of `answer`.

    Attributes:
        name: name of the method, which is the kind of its rows.
        rows: function of the question, the findings of earlier methods, and a progress callback.
            It yields rows, which carry the method's own findings. Without an answer, it yields a
            row with the reason. It raises only KeyboardInterrupt and errors of the inputs, and
            modifies no argument.
        assumes: assumptions that its row states if `--quick` leaves it out.
        expected_s: estimate of its run time in seconds, for `--quick`.
        needs_simulation: True if it needs the findings of the simulation and runs after it.
    """

    name: str
    rows: Callable[[Question, Findings, Progress], Iterable[WayRow]]
    assumes: str
    expected_s: Callable[[Question, Findings], float] = lambda question, findings: 0.0
    needs_simulation: bool = False
