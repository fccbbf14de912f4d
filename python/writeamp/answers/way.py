"""Interface of a way to answer: its rows, and the findings that later ways build on."""

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
    """Results of ways that later ways, causes and changes build on.

    Attributes:
        simulated: the question with its simulation; None until that has run.
        timed: case of the run in virtual time; None until it has run, or without one.
        served: result of the virtual drive; None until it has run, or without one.
        notes: sentences on what was assumed or left out.
    """

    simulated: SimulatedQuestion | None = None
    timed: Case | None = None
    served: ServeResult | None = None
    notes: tuple[str, ...] = ()

    def joined(self, later: Findings) -> Findings:
        """Return these findings and those of a later way."""
        return Findings(
            later.simulated or self.simulated,
            later.timed or self.timed,
            later.served or self.served,
            (*self.notes, *later.notes),
        )


@dataclass(frozen=True, eq=False)
class WayRow(AnyResult):
    """Answer of one way.

    Attributes:
        way: its kind, and more where there are several of one kind.
        kind: "formula", "mean-field", "simulate", "timed", "virtual", "real", or the name of a way
            of another package.
        wa: flash pages programmed for each page that the host writes; NaN without an answer.
        seconds: that the way took.
        assumes: assumptions of the way.
        reason: why there is no answer, or why it may not hold; "" otherwise.
        is_steady: False if `wa` is that of a run without a steady state, and may not last.
        findings: results for later ways, which are not shown.
        ci: the 95% confidence interval of `wa`; NaN of too short a run, None of a computed number.
        bounds: least and greatest WA that the counters of a real drive allow.
        interval, level: interval of `wa` of a learnt profile, and its probability.
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
        """Return the row of a way that cannot answer."""
        return WayRow(way, kind, math.nan, seconds, assumes, reason)

    @property
    def answers(self) -> bool:
        """True if there is a WA."""
        return not math.isnan(self.wa)

    @property
    def ends(self) -> tuple[float, float]:
        """Ends of the error bar, or the number itself twice where it has none."""
        return (self.wa, self.wa) if math.isnan(self.error_bar[0]) else self.error_bar

    @property
    def cells(self) -> tuple[str, ...]:
        """Cells of the row in a table, as `COLUMNS` names them."""
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
    """A way to answer.

    Attributes:
        name: of the way, which is the kind of its rows.
        rows: gives rows without an answer where it has none, and raises only Ctrl-C and errors of
            its inputs. It gets the question, the findings of ways before it, and a function to
            report progress; it can change neither of the first two, and hands its own findings
            over in its rows.
        assumes: assumptions that its row states if `--quick` leaves it out.
        expected_s: estimate of its seconds, by which `--quick` leaves it out.
        needs_simulation: True if it needs the findings of the simulation, after which it runs.
    """

    name: str
    rows: Callable[[Question, Findings, Progress], Iterable[WayRow]]
    assumes: str
    expected_s: Callable[[Question, Findings], float] = lambda question, findings: 0.0
    needs_simulation: bool = False
