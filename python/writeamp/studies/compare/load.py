"""Rows of a comparison that have one load, and the names of loads beside each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from writeamp.devices.device import Device
from writeamp.results.numbers import json_number
from writeamp.runs.drive_result import differs
from writeamp.runs.expectation import Expectation
from writeamp.studies.compare.row import Row


@dataclass(frozen=True, repr=False)
class OneLoad:
    """The rows of one load, in the order of the managers asked for."""

    rows: tuple[Row, ...]

    @property
    def name(self) -> str:
        """The workload, or the name of the trace."""
        return self.rows[0].workload

    @property
    def device(self) -> Device:
        """The drive, the same for all."""
        return self.rows[0].results[0].device

    @property
    def partial_page_factor(self) -> float:
        """Bytes of the pages that the host wrote over those that it asked to write.

        The same for all; NaN if nobody knows the bytes.
        """
        return self.rows[0].partial_page_factor

    @property
    def has_partial_pages(self) -> bool:
        """True if WA per byte is visibly another figure than WA per page."""
        return differs(self.partial_page_factor)

    @property
    def theory(self) -> list[Expectation]:
        """WA of uniform writes on a drive as full, by theory: under FIFO and under greedy."""
        return self.rows[0].results[0].uniform_theory

    @property
    def models(self) -> dict[str, float]:
        """WA by model: of those of uniform writes, and of those that describe a row."""
        of_rows = [row.theory for row in self.rows if row.theory]
        return {one.model: one.wa for one in (*self.theory, *of_rows)}

    @property
    def held_in_words(self) -> str:
        """Op for which theory speaks, in words, and why it is not the drive's if it is not."""
        return self.rows[0].results[0].held_in_words

    def theory_in_words(self, *, named: bool) -> str:
        """Return WA of the `models` and its op in words, perhaps with the name of the load."""
        of_load = f"{self.name}, theory" if named else "theory"
        models = ", ".join(f"{wa:.4g} {model}" for model, wa in self.models.items())
        return f"{of_load} at {self.held_in_words}: {models}"

    @property
    def notes(self) -> list[str]:
        """Sentences on what was assumed, left out or rounded."""
        return self.rows[0].results[0].notes

    @property
    def by_wa(self) -> list[Row]:
        """The rows, the least write amplification first."""
        return sorted(self.rows, key=lambda row: row.wa)

    def facts(self) -> dict[str, Any]:
        """Return the facts that all rows of the load share, as JSON types."""
        first, factor = self.rows[0].results[0], self.partial_page_factor
        return {
            "workload": self.name,
            **self.device.facts(),
            **self.rows[0].facts_of_drive,
            "writes": first.writes,
            "warmup_pages": first.warmup_pages,
            "precondition": first.plan.host.precondition,
            "partial_page_factor": json_number(factor),
            "theory": [vars(one) for one in self.theory],
        }


def load_labels(paths: Sequence[str]) -> tuple[str, ...]:
    """Return the last parts of paths, as many as tell them apart; equal ones are numbered.

    >>> load_labels(["monday/disk.csv", "tuesday/disk.csv", "log.csv"])
    ('monday/disk.csv', 'tuesday/disk.csv', 'log.csv')
    >>> load_labels(["trace", "trace"])
    ('trace (1)', 'trace (2)')
    """
    parts = [PurePath(path).parts or (path,) for path in paths]
    shown = [1] * len(parts)
    while True:
        names = [_ends(one, count) for one, count in zip(parts, shown, strict=True)]
        often = Counter(names)
        longer = [
            at for at, name in enumerate(names) if often[name] > 1 and shown[at] < len(parts[at])
        ]
        if not longer:
            return _numbered(names)
        for at in longer:
            shown[at] += 1


def _ends(parts: tuple[str, ...], count: int) -> str:
    return str(PurePath(*parts[-count:]))


def _numbered(names: Sequence[str]) -> tuple[str, ...]:
    often, before = Counter(names), Counter[str]()
    found = []
    for name in names:
        before[name] += 1
        found.append(f"{name} ({before[name]})" if often[name] > 1 else name)
    return tuple(found)
