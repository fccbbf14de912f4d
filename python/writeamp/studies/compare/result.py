"""Result of a comparison: write amplification of block managers on drives and loads."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import groupby
from typing import Any

from writeamp._engine import __version__
from writeamp.devices.device import Device
from writeamp.plots.figures.wa_by_policy import PolicyResult, wa_by_policy
from writeamp.plots.spec import BarChart
from writeamp.plots.style import legend_of_error, with_error
from writeamp.results.any_result import OneLine
from writeamp.results.card import Card
from writeamp.results.drawn import Drawn
from writeamp.results.handles import table_of_handles
from writeamp.results.numbers import plural
from writeamp.studies.compare.load import OneLoad
from writeamp.studies.compare.omitted import OmittedRow
from writeamp.studies.compare.row import Row
from writeamp.studies.compare.warnings import warnings_of
from writeamp.studies.study import StoreStats
from writeamp.text import printable

# Kinds of hints that the host gives with its writes, with a description of each.
_HINTS = (
    ("groups", "the groups of pages"),
    ("handles", "the placement handle of each write"),
    ("invalidation_times", "when each page is invalidated"),
)
# Marks the WA of a row that is not steady.
_UNSTEADY = "* "


@dataclass(frozen=True, repr=False, eq=False)
class Comparison(OneLine, Drawn):
    """Result of a comparison: its rows by load, in the order of the requested managers.

    If it was interrupted, it has the finished rows, and `unfinished` names the others.
    `policy_notes` name victim policies that a manager does not support. `omitted` has the rows that
    cannot run on the drive, with their reasons.
    """

    rows: tuple[Row, ...]
    unfinished: tuple[str, ...] = ()
    policy_notes: tuple[str, ...] = ()
    omitted: tuple[OmittedRow, ...] = ()
    store_stats: StoreStats | None = field(default=None, compare=False)

    @cached_property
    def loads(self) -> tuple[OneLoad, ...]:
        """Rows of each load. Without a given size, the drive is fitted to each trace."""
        by_load = groupby(self.rows, key=lambda row: row.workload)
        return tuple(OneLoad(tuple(rows)) for _, rows in by_load)

    def __str__(self) -> str:
        """Return, for each load, the row with the least WA, and the number of rows, in one line."""
        least = [(load.name, load.by_wa[0]) for load in self.loads]
        summaries = (
            f"on {name} {row.policy} with {row.wa_in_words}{'' if row.steady else ', NOT steady'}"
            for name, row in least
        )
        return f"{len(self.rows)} rows, the least WA {'; '.join(summaries)}"

    @property
    def device(self) -> Device:
        """Drive of all rows; with several loads, that of the first."""
        return self.loads[0].device

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as JSON types, with the keys of `writeamp compare --json`.

        Facts that all loads share are at the top level; `loads` has the facts of each.
        """
        first, facts_of_loads = self.rows[0].results[0], [load.facts() for load in self.loads]
        common = {
            key: value
            for key, value in facts_of_loads[0].items()
            if all(facts[key] == value for facts in facts_of_loads)
        }
        if len(facts_of_loads) > 1:
            common["workload"] = [load.name for load in self.loads]
        interrupted = {"interrupted": True, "unfinished": list(self.unfinished)}
        return {
            **(interrupted if self.unfinished else {}),
            "rows": self._records(),
            **common,
            "replicas": len(self.rows[0].results),
            **(self.store_stats.to_dict() if self.store_stats else {}),
            "seed": first.plan.seed,
            "version": __version__,
            "loads": facts_of_loads,
            "warnings": self.warnings,
            "notes": self.notes,
        }

    @property
    def warnings(self) -> list[str]:
        """Warnings for readers of the rows, each once for all rows that it applies to."""
        return warnings_of(self.loads)

    @property
    def legend(self) -> list[str]:
        """Lines below the tables on drives simulated in place of the requested one, if any."""
        of_rows = {row.name: row.substitutes for row in self.rows}
        legends = (
            substitute.legend({name: substitutes[index] for name, substitutes in of_rows.items()})
            for index, substitute in enumerate(self.rows[0].substitutes)
        )
        return [line for line in legends if line]

    @property
    def notes(self) -> list[str]:
        """Notes on assumptions, omissions and rounding."""
        first, *others = self.loads
        common = [note for note in first.notes if all(note in load.notes for load in others)]
        load_notes = [
            f"{load.name}: {note}"
            for load in self.loads
            for note in load.notes
            if note not in common
        ]
        store_notes = self.store_stats.notes if self.store_stats else []
        return [*self.policy_notes, *common, *load_notes, *store_notes]

    @property
    def partial_page_factor(self) -> float:
        """Bytes of the pages that the host wrote, divided by the bytes that it requested.

        All rows of a load have the same factor; this is the factor of the first load. NaN if
        unknown.
        """
        return self.loads[0].partial_page_factor

    @property
    def has_partial_pages(self) -> bool:
        """True if WA per byte visibly differs from WA per page, for any load."""
        return any(load.has_partial_pages for load in self.loads)

    def figure(self) -> BarChart:
        """Return a bar chart of each manager's WA by cause, sorted by WA within each load."""
        has_several_loads = len(self.loads) > 1
        rows = []
        for load in self.loads:
            section = load.name if has_several_loads else ""
            rows += [
                PolicyResult(
                    row.label,
                    row.wa,
                    {cause: round(pages) for cause, pages in row.causes.items()},
                    *row.error_bar,
                    section=section,
                    theory=(row.theory.model, row.theory.wa) if row.theory else None,
                )
                for row in load.by_wa
            ]
            rows += [
                PolicyResult(row.policy, math.nan, {}, section=section)
                for row in self._omitted_of(load)
            ]
        loads_text = f"{len(self.loads)} loads" if has_several_loads else self.loads[0].name
        theory = (
            []
            if has_several_loads
            else [(expected.model, expected.wa) for expected in self.loads[0].theory]
        )
        return wa_by_policy(
            rows,
            theory,
            title=f"Write amplification by block manager: {loads_text}",
            subtitle=(
                self._per_byte() + f"op = (T-U)/U = {self.ops} · {self.drives} · "
                f"{plural(len(self.rows[0].results), 'run')} each"
                + (f"\ntheory at {self.loads[0].held_in_words}" if theory else "")
            ),
            interval=self._interval_name,
        )

    def _omitted_of(self, load: OneLoad) -> list[OmittedRow]:
        return [row for row in self.omitted if row.workload == load.name]

    @property
    def _interval_name(self) -> str:
        row = self.rows[0]
        return "95% confidence" if row.level is None else f"the {row.interval_name}"

    @property
    def ops(self) -> str:
        """Range of the drives' over-provisioning, as text for a heading."""
        ops = sorted({f"{load.device.op:.4g}" for load in self.loads}, key=float)
        return ops[0] if len(ops) == 1 else f"{ops[0]} to {ops[-1]}"

    @property
    def drives(self) -> str:
        """Names and layouts of the drives, as text for a heading."""
        devices = [load.device for load in self.loads]
        return "; ".join(
            dict.fromkeys(f"{printable(device.name)}, {device.layout}" for device in devices)
        )

    @property
    def _unit(self) -> str:
        """Name of a page of the drives, short for columns; those of all rows have the same unit."""
        return "unit" if self.loads[0].device.host_page_bytes else "page"

    def _per_byte(self) -> str:
        lines = []
        for load in self.loads:
            if load.has_partial_pages:
                values = [row.wa_bytes for row in load.rows]
                of_load = f" of {printable(load.name)}" if len(self.loads) > 1 else ""
                lines.append(
                    f"WA per host byte{of_load} {min(values):.3f} to {max(values):.3f} = WA per "
                    f"{self._unit} × {load.partial_page_factor:.3f} ({self._unit}s written in "
                    "part)\n"
                )
        return "".join(lines)

    @property
    def finished(self) -> str:
        """Number of finished rows and of all rows, as text."""
        return f"{len(self.rows)} of {len(self.rows) + len(self.unfinished)} rows"

    @property
    def remarks(self) -> list[str]:
        """Explanations below the tables of `card()`: symbols, columns, theory, hints, victims."""
        has_several_loads = len(self.loads) > 1
        lines = [f"{row.name} cannot run: {row.reason}" for row in self.omitted]
        if not all(row.steady for row in self.rows):
            lines.append(
                f"{_UNSTEADY}WA is not steady and may change in a longer run; see the warnings"
            )
        lines += [
            load.theory_in_words(named=has_several_loads) for load in self.loads if load.models
        ]
        lines += self.legend
        for hints, description in _HINTS:
            names = dict.fromkeys(row.policy for row in self.rows if row.hints == hints)
            if names:
                lines.append(
                    f"managers that need hints from the host on {description}: {', '.join(names)}"
                )
        for load in self.loads:
            if load.has_partial_pages:
                of_load = f" of {load.name}" if has_several_loads else ""
                lines.append(
                    f"WA/byte{of_load} = WA/{self._unit} × {load.partial_page_factor:.4f}, because "
                    f"some {self._unit}s are written in part; SMART reports bytes"
                )
        if not self.rows[0].with_victims:
            lines.append(f"victims: {self._victims()}")
        return lines

    def card(self) -> Card:
        """Return the rows by ascending WA, with a table for each of several loads."""
        has_several_loads = len(self.loads) > 1
        interrupted = f"INTERRUPTED after {self.finished}: " if self.unfinished else ""
        loads_text = f"{len(self.loads)} loads" if has_several_loads else self.loads[0].name
        title = (
            f"{interrupted}{loads_text} on {self.drives}, op {self.ops} = (T-U)/U; "
            f"{plural(len(self.rows[0].results), 'run')} each"
        )
        cells_of = self._columns()
        tables = [
            Card(
                load.name,
                [
                    *([cell(row) for cell in cells_of.values()] for row in load.by_wa),
                    *(_omitted_cells(row, cells_of) for row in self._omitted_of(load)),
                ],
                list(cells_of),
            )
            for load in self.loads
        ]
        texts = (with_error(row.wa, *row.error_bar) for row in self.rows)
        legend = legend_of_error(texts, self._interval_name)
        return Card(
            title,
            [] if has_several_loads else tables[0].rows,
            () if has_several_loads else tables[0].columns,
            legend=[*([legend] if legend else []), *self.remarks],
            warnings=self.warnings,
            notes=self.notes,
            parts=[*(tables if has_several_loads else []), *self._tables_of_handles()],
        )

    def _tables_of_handles(self) -> list[Card]:
        return [
            table_of_handles(row.handles, f"Placement handles of {row.name}")
            for load in self.loads
            for row in load.by_wa
            if row.handles
        ]

    def _columns(self) -> dict[str, Callable[[Row], str]]:
        """Return the tables' columns: for each heading, a function that formats a row's cell."""
        columns: dict[str, Callable[[Row], str]] = {"manager": lambda row: row.manager}
        if self.rows[0].with_victims:
            columns["victims"] = lambda row: row.victims
        if self.has_partial_pages:
            columns |= {">WA/byte": lambda row: f"{row.wa_bytes:.3f}", f">WA/{self._unit}": _wa}
        else:
            columns[">WA"] = _wa
        if any(row.theory for row in self.rows):
            columns[">theory"] = lambda row: f"{row.theory.wa:.3f}" if row.theory else ""
        for cause in self.rows[0].causes:
            if cause == "gc" or (cause != "host" and any(row.causes[cause] for row in self.rows)):
                name = cause.replace("_", " ")
                columns[f">{name} per host {self._unit}"] = partial(_share, cause)
        return columns | {
            ">PE fairness": lambda row: f"{row.pe_fairness:.3f}",
            f">memory B/{self._unit}": lambda row: f"{row.bytes_per_page:.2f}",
            f">simulated M {self._unit}s/s": lambda row: f"{row.host_pages_per_s / 1e6:.1f}",
        }

    def _victims(self) -> str:
        """Return the victim policies as text; if there are several, each with its managers."""
        policies = sorted({row.victims for row in self.rows})
        if len(policies) == 1:
            return policies[0]
        managers = {
            policy: dict.fromkeys(row.manager for row in self.rows if row.victims == policy)
            for policy in policies
        }
        return ", ".join(f"{policy} ({', '.join(names)})" for policy, names in managers.items())

    def _records(self) -> list[dict[str, Any]]:
        """Return all rows in the requested order; omitted rows have a reason instead of a WA."""
        rows = [(row.place, row.to_dict()) for row in self.rows]
        like = rows[0][1]
        rows += [(row.place, row.to_dict(like)) for row in self.omitted]
        return [row for _, row in sorted(rows, key=lambda numbered: numbered[0])]


def _wa(row: Row) -> str:
    return ("" if row.steady else _UNSTEADY) + with_error(row.wa, *row.error_bar)


def _omitted_cells(row: OmittedRow, columns: Iterable[str]) -> list[str]:
    names = {"manager": row.manager, "victims": row.victims}
    return [names.get(column, "–") for column in columns]


def _share(cause: str, row: Row) -> str:
    host = row.causes["host"] + row.causes.get("read_modify_write", 0.0)
    return f"{row.causes[cause] / host:.3f}"
