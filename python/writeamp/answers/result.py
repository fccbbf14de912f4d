"""Result: rows of all sources, why they differ, and how to reduce WA."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from writeamp._engine import __version__
from writeamp.answers.advice import Advice
from writeamp.answers.differences import RowDifference
from writeamp.answers.way import WayRow, table_of
from writeamp.devices.device import Device
from writeamp.plots.figures.wa_by_policy import WaDot, wa_by_name
from writeamp.plots.spec import BarChart
from writeamp.results.any_result import OneLine
from writeamp.results.card import Card
from writeamp.results.drawn import Drawn
from writeamp.runs.simulation_result import Result
from writeamp.runs.substitute import NO_SUBSTITUTE, Substitute
from writeamp.studies.mixture import Mixture


@dataclass(frozen=True, repr=False, eq=False)
class Answer(OneLine, Drawn):
    """Answers of all sources to one question.

    Attributes:
        load_name: name of the workload or trace; None if there are counters of a drive only.
        policy: policies of the drive, in words; None without a load.
        device: the simulated drive; None without a load.
        rows: answers of the sources, in the order of running.
        differences: differences between each pair of rows that have a WA.
        advice: at most three changes that reduce WA most, best first.
        held_pages: logical pages that hold data, from which theory computes the effective op.
        missing: sources and steps that Ctrl-C left unfinished.
        notes: sentences on assumptions, omissions and rounding.
        simulated_run: result of the simulation; None if it was not finished.
        mixture: simulated WA over all candidates of a learnt profile; None for one drive.
        scaling: relation of the simulated drive to the requested one, with the scaling error.
    """

    load_name: str | None
    policy: str | None
    device: Device | None
    rows: tuple[WayRow, ...]
    differences: tuple[RowDifference, ...] = ()
    advice: tuple[Advice, ...] = ()
    held_pages: int = 0
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    simulated_run: Result | None = field(default=None, compare=False)
    mixture: Mixture | None = field(default=None, compare=False)
    scaling: Substitute = field(default=NO_SUBSTITUTE, compare=False)

    @property
    def unfinished(self) -> tuple[str, ...]:
        """Sources and steps that were not finished; empty if the answer is complete."""
        return self.missing

    @property
    def warnings(self) -> list[str]:
        """No warnings: limits of the result are in the rows and notes."""
        return []

    @property
    def simulated(self) -> WayRow | None:
        """Row of the simulation; None if it was not finished."""
        return self.row("simulate")

    def row(self, kind: str) -> WayRow | None:
        """Return the first row of a kind, or None."""
        return next((row for row in self.rows if row.kind == kind), None)

    def between(self, first: str, second: str) -> RowDifference | None:
        """Return the difference of two rows by their names, in either order, or None.

        Its sign does not depend on the order of the names: it is WA of the row `between[1]` minus
        WA of the row `between[0]`.
        """
        matches = (
            difference
            for difference in self.differences
            if set(difference.between) == {first, second}
        )
        return next(matches, None)

    def _records(self) -> list[dict[str, Any]]:
        return [row.to_dict() for row in self.rows]

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as JSON types, with the keys of `writeamp answer --json`."""
        return {
            "rows": [row.to_dict() for row in self.rows],
            "differences": [difference.to_dict() for difference in self.differences],
            "advice": [change.to_dict() for change in self.advice],
            "workload": self.load_name,
            "policy": self.policy,
            "device": None if self.device is None else self.device.name,
            **({} if self.device is None else self.device.facts()),
            **self.scaling.facts(),
            "held_pages": self.held_pages,
            "unfinished": list(self.missing),
            **({} if self.mixture is None else self.mixture.facts_of_wa()),
            "notes": list(self.notes),
            "version": __version__,
        }

    def beside(self) -> dict[str, Any]:
        """Return the simulation's flash pages by cause, WA over time, and blocks at the end."""
        simulated = self.simulated_run
        if simulated is None or self.device is None:
            return {}
        causes = {
            "way": "simulate",
            "causes": simulated.causes,
            "host": simulated.host,
            "page_bytes": self.device.page_bytes,
        }
        return simulated.beside() | {"run": causes}

    def card(self) -> Card:
        """Return tables of all rows, why they differ, and how to reduce WA."""
        columns, lines = table_of(self.rows)
        parts = (self._wa_bytes_by_cause(), self._why_rows_differ(), self._advice())
        tables = [table for table in parts if table.rows]
        return Card(self._title, lines, columns, notes=self.notes, parts=tables, is_ruled=False)

    @property
    def _title(self) -> str:
        if self.device is None:
            return "WA by counters"
        on = f"{self.device.name}{self.scaling.drives_suffix()}"
        return f"WA of {self.load_name} on {on} under {self.policy}"

    def _wa_bytes_by_cause(self) -> Card:
        """Return a table of WA per host byte by cause, for requests that cover pages in part."""
        row = self.simulated
        by_cause = (row and row.wa_bytes_by_cause) or {}
        rows = [(cause.replace("_", " "), f"{amount:.4f}") for cause, amount in by_cause.items()]
        if row is not None and rows:
            factor = row.wa_bytes / row.wa
            total = f"all: WA per {row.unit} {row.wa:.4f} × {factor:.4f}"
            rows.append((total, f"{row.wa_bytes:.4f}"))
        columns = ("WA per byte by cause", ">WA")
        return Card("WA per host byte by cause", rows, columns, is_ruled=False)

    def _why_rows_differ(self) -> Card:
        """Return a table of the differences between each row and the simulation, with causes."""
        rows = []
        simulated = self.simulated
        for row in self.rows if simulated is not None else ():
            assert simulated is not None
            difference = self.between(row.way, simulated.way)
            if row is simulated or difference is None:
                continue
            sign = 1 if difference.between[1] == row.way else -1
            why = difference.why(sign, row.wa)
            if not (row.is_steady and simulated.is_steady):
                why += "; a longer run may give another difference"
            rows.append(
                (f"{row.way} minus simulate", f"{sign * difference.wa_difference:+.3f}", why)
            )
        pairs = [
            " and ".join(difference.between)
            for difference in self.differences
            if difference.agree and (simulated is None or simulated.way not in difference.between)
        ]
        notes = [f"other rows that agree within noise: {'; '.join(pairs)}"] if pairs else []
        columns = ("why rows differ", ">WA", "causes")
        return Card("Why rows differ", rows, columns, notes=notes, is_ruled=False)

    def _advice(self) -> Card:
        """Return a table of the changes that reduce WA most."""
        rows = [
            (
                advice.change,
                f"{advice.wa:.4f}",
                f"{advice.wa_now:.4f}",
                f"{advice.wa / advice.wa_now - 1:+.1%}",
                advice.costs + ("" if advice.is_steady else "; WA is not steady"),
            )
            for advice in self.advice
        ]
        columns = ("how to reduce it", ">WA", ">WA now", ">change", "costs")
        return Card("How to reduce it", rows, columns, is_ruled=False)

    def figure(self) -> BarChart:
        """Return a figure with a dot and an interval for each row that has a WA."""
        dots = [
            WaDot(row.way, row.wa, *row.ends, is_sound=not row.reason)
            for row in self.rows
            if row.answers
        ]
        device, intervals = self.device, {row.interval_name for row in self.rows} - {""}
        of_load = "" if device is None else f": {self.load_name}"
        of_drive = (
            ""
            if device is None
            else f"{device.name}, op = (T-U)/U = {device.op:.4g}, {self.policy}"
        )
        return wa_by_name(
            dots,
            title=f"Write amplification from all sources{of_load}",
            subtitle=of_drive,
            interval=" or ".join(sorted(intervals)),
        )

    def __str__(self) -> str:
        """Return the WA of all rows in one line."""
        answers = ", ".join(f"{row.way} {row.wa:.3f}" for row in self.rows if row.answers)
        subject = "WA" if self.device is None else f"WA of {self.load_name} on {self.device.name}"
        return f"{subject}: {answers}"
