"""Interface of a source (way) of `answer`: its rows, and the findings for later sources."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from writeamp.answers.case import Case
from writeamp.answers.question import Question, SimulatedQuestion
from writeamp.results.any_result import AnyResult
from writeamp.results.numbers import bounded, interval_name, json_number, range_in_words
from writeamp.runners import Progress
from writeamp.runs.partial_pages import differs
from writeamp.vssd.result import ServeResult

_CI = interval_name(of_profile=False)


@dataclass(frozen=True, eq=False)
class Findings:
    """Results of sources that later sources, causes and changes use.

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
        """Return these findings merged with a later source's findings, which take precedence."""
        return Findings(
            later.simulated or self.simulated,
            later.timed or self.timed,
            later.served or self.served,
            (*self.notes, *later.notes),
        )


@dataclass(frozen=True, eq=False)
class WayRow(AnyResult):
    """WA from one source.

    Attributes:
        way: name of the row: its kind, and the model if there are several models of the kind.
        kind: "formula", "mean-field", "simulate", "timed", "virtual", "real", or the name of a
            source of another package.
        wa: flash pages programmed per page that the host writes; NaN without an answer.
        seconds: run time of the source in seconds.
        assumes: assumptions of the source.
        reason: why the answer is missing or may be wrong; "" otherwise.
        is_steady: False if the run did not reach a steady state, so that `wa` may change.
        findings: results for later sources, which are not shown.
        ci: 95% confidence interval of `wa`; NaN if the run is too short, None if `wa` is computed.
        bounds: lowest and highest WA that the counters of a real drive allow.
        interval, level: interval of `wa` of a learnt profile, and the probability of the interval.
        wa_bytes: flash bytes programmed per byte that the host writes; NaN if unknown.
        wa_bytes_by_cause: parts of `wa_bytes` by cause, if requests cover pages in part; only the
            simulation has them.
        unit: what `wa` counts: "page" or "mapping unit".
        own_interval: interval without the scaling error, which rows on the same smaller drive have
            in common; None for a row on no smaller drive.
    """

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
    wa_bytes: float = math.nan
    wa_bytes_by_cause: Mapping[str, float] | None = None
    unit: str = "page"
    own_interval: tuple[float, float] | None = field(default=None, compare=False)

    @staticmethod
    def without(way: str, kind: str, assumes: str, reason: str, seconds: float = 0.0) -> WayRow:
        """Return the row of a source that has no answer."""
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
    def has_partial_pages(self) -> bool:
        """Whether WA per byte visibly differs from WA per page."""
        return self.answers and differs(self.wa_bytes / self.wa)

    @property
    def wa_texts(self) -> tuple[str, str, str]:
        """WA, WA per byte and the interval as texts; bounds limit the number of digits."""
        low, high = self.error_bar
        if not self.answers:
            return "–", "–", ""
        if self.bounds is not None:
            wa, within = bounded(self.wa, *self.bounds)
            return wa, wa, within and f"bounds {within}"
        per_byte = "–" if math.isnan(self.wa_bytes) else f"{self.wa_bytes:.4f}"
        return f"{self.wa:.4f}", per_byte, "" if math.isnan(low) else range_in_words(low, high)

    @property
    def interval_name(self) -> str:
        """Name of the row's interval, or "" without an interval."""
        if self.bounds is not None:
            return "bounds of counters"
        of_profile = self.interval is not None
        return "" if math.isnan(self.error_bar[0]) else interval_name(of_profile=of_profile)

    @property
    def remark(self) -> str:
        """Reason why WA is missing or may be wrong, or else the assumptions of the source."""
        return self.reason or f"assumes {self.assumes}"

    def to_dict(self) -> dict[str, Any]:
        """Return the row as JSON types."""
        low, high = self.error_bar
        has_bounds = self.bounds is not None
        return {
            "way": self.way,
            "wa": json_number(self.wa),
            "wa_ci95": None if math.isnan(low) or has_bounds else [low, high],
            "wa_bounds": [low, high] if has_bounds else None,
            "interval": self.interval_name or None,
            "wa_bytes": json_number(self.wa_bytes),
            "wa_bytes_by_cause": self.wa_bytes_by_cause and dict(self.wa_bytes_by_cause),
            "unit": self.unit,
            "steady": self.is_steady,
            "seconds": self.seconds,
            "assumes": self.assumes,
            "reason": self.reason,
        }


def table_of(rows: Sequence[WayRow]) -> tuple[list[str], list[list[str]]]:
    """Return the columns and cells of a table of rows; names of number columns begin with ">".

    WA per byte is a column if it differs from WA per page.
    """
    has_partial_pages = any(row.has_partial_pages for row in rows)
    intervals = {row.interval_name for row in rows} - {""}
    name = interval_name(of_profile=False, is_mixed=not intervals <= {_CI})
    columns = ["source", ">WA", ">WA per byte", name, ">seconds", "remarks"]
    lines = [[row.way, *row.wa_texts, f"{row.seconds:.2f}", row.remark] for row in rows]
    if not has_partial_pages:
        for cells in (columns, *lines):
            del cells[2]
    return columns, lines


@dataclass(frozen=True)
class Way:
    """A source of `answer`.

    Attributes:
        name: name of the source, which is the kind of its rows.
        rows: function of the question, the findings of earlier sources, and a progress callback.
            It yields rows, which carry the source's own findings. Without an answer, it yields a
            row with the reason. It raises only KeyboardInterrupt and errors of the inputs, and
            modifies no argument.
        assumes: assumptions that its row states if `--quick` leaves it out.
        expected_s: estimate of its run time in seconds, for `--quick`.
        needs_simulation: True if it needs the findings of the simulation and runs after it.
        needs_load: False if it also answers a question without a load.
    """

    name: str
    rows: Callable[[Question, Findings, Progress], Iterable[WayRow]]
    assumes: str
    expected_s: Callable[[Question, Findings], float] = lambda question, findings: 0.0
    needs_simulation: bool = False
    needs_load: bool = True
