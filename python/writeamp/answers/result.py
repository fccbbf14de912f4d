"""Result: rows of all ways, why they differ, and what would make it less."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from writeamp._engine import __version__
from writeamp.answers.advice import Advice
from writeamp.answers.differences import RowDifference
from writeamp.answers.way import WayRow
from writeamp.devices.device import Device
from writeamp.plots.figures.wa_by_policy import WaDot, wa_by_name
from writeamp.plots.spec import BarChart
from writeamp.results.any_result import OneLine
from writeamp.results.card import Card
from writeamp.results.drawn import Drawn
from writeamp.results.numbers import interval_name
from writeamp.runs.simulation_result import Result
from writeamp.studies.mixture import Mixture


@dataclass(frozen=True, repr=False, eq=False)
class Answer(OneLine, Drawn):
    """One question answered by every way.

    Attributes:
        load_name: what the host writes.
        policy: of the drive, in words.
        device: the drive.
        rows: what each way answers, the quickest first.
        differences: of each pair of rows that answer.
        advice: the three changes that make it least, the best first.
        held_pages: logical pages that hold data, for which theory speaks.
        missing: what was not finished, after Ctrl-C.
        notes: sentences on what was assumed, left out or rounded.
        simulated_run: what the simulation found; None if it was not finished.
        mixture: what it found of all drives that a learnt profile may be; None of one drive.
    """

    load_name: str
    policy: str
    device: Device
    rows: tuple[WayRow, ...]
    differences: tuple[RowDifference, ...] = ()
    advice: tuple[Advice, ...] = ()
    held_pages: int = 0
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    simulated_run: Result | None = field(default=None, compare=False)
    mixture: Mixture | None = field(default=None, compare=False)

    @property
    def unfinished(self) -> tuple[str, ...]:
        """Ways and parts that were asked for and not finished; empty if none."""
        return self.missing

    @property
    def warnings(self) -> list[str]:
        """Sentences that a reader should know."""
        return []

    @property
    def simulated(self) -> WayRow | None:
        """The row of the simulation; None if it was not finished."""
        return self.row("simulate")

    def row(self, kind: str) -> WayRow | None:
        """Return the first row of a kind; None of none."""
        return next((one for one in self.rows if one.kind == kind), None)

    def between(self, one: str, other: str) -> RowDifference | None:
        """Return the difference of two rows by their ways, in whichever order; None of none."""
        found = (each for each in self.differences if set(each.between) == {one, other})
        return next(found, None)

    def _records(self) -> list[dict[str, Any]]:
        return [one.to_dict() for one in self.rows]

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as JSON types, with the keys of `writeamp answer --json`."""
        return {
            "rows": [one.to_dict() for one in self.rows],
            "differences": [one.to_dict() for one in self.differences],
            "advice": [one.to_dict() for one in self.advice],
            "workload": self.load_name,
            "policy": self.policy,
            "device": self.device.name,
            **self.device.facts(),
            "held_pages": self.held_pages,
            "unfinished": list(self.missing),
            **({} if self.mixture is None else self.mixture.facts_of_wa()),
            "notes": list(self.notes),
            "version": __version__,
        }

    def beside(self) -> dict[str, Any]:
        """Return the simulation's WA by cause and over time, and its blocks at the end."""
        found = self.simulated_run
        if found is None:
            return {}
        causes = {"way": "simulate", "causes": found.causes, "page_bytes": self.device.page_bytes}
        return found.beside() | {"run": causes}

    def card(self) -> Card:
        """Return a row for each way, why rows differ, and what would make WA less."""
        title = f"WA of {self.load_name} on {self.device.name} under {self.policy}"
        rows = [one.cells for one in self.rows]
        parts = [part for part in (self._why_rows_differ(), self._advice()) if part.rows]
        return Card(title, rows, WayRow.COLUMNS, notes=self.notes, parts=parts)

    def _why_rows_differ(self) -> Card:
        """Return how each row differs from the simulation and why."""
        rows = []
        simulated = self.simulated
        for row in self.rows if simulated is not None else ():
            assert simulated is not None
            one = self.between(row.way, simulated.way)
            if row is simulated or one is None:
                continue
            sign = 1 if one.between[1] == row.way else -1
            why = one.why(sign, row.wa)
            if not (row.is_steady and simulated.is_steady):
                why += "; of this window only"
            rows.append((f"{row.way} minus simulate", f"{sign * one.wa_difference:+.4f}", why))
        pairs = [
            " and ".join(one.between)
            for one in self.differences
            if one.agree and (simulated is None or simulated.way not in one.between)
        ]
        notes = [f"agree with each other too: {'; '.join(pairs)}"] if pairs else []
        columns = ("why rows differ", ">WA", "of it")
        return Card("Why rows differ", rows, columns, notes=notes, is_ruled=False)

    def _advice(self) -> Card:
        """Return the changes that make it least."""
        rows = [
            (one.change, f"{one.wa:.4f}", f"{one.wa_now:.4f}", one.costs) for one in self.advice
        ]
        columns = ("what would make it less", ">WA", ">now", "costs")
        return Card("What would make it less", rows, columns, is_ruled=False)

    def figure(self) -> BarChart:
        """Describe a dot with its interval for each way that answers."""
        dots = [
            WaDot(one.way, one.wa, *one.ends, is_sound=not one.reason)
            for one in self.rows
            if one.answers
        ]
        device = self.device
        return wa_by_name(
            dots,
            title=f"Write amplification by every way: {self.load_name}",
            subtitle=f"{device.name}, op = (T-U)/U = {device.op:.4g}, {self.policy}",
            interval=interval_name(
                of_profile=False, is_mixed=any(one.bounds or one.interval for one in self.rows)
            ),
        )

    def __str__(self) -> str:
        """Return the answers in a line."""
        answers = ", ".join(f"{one.way} {one.wa:.3f}" for one in self.rows if one.answers)
        return f"WA of {self.load_name} on {self.device.name}: {answers}"
