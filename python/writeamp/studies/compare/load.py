"""Rows of a comparison that share one load, and labels of several loads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from writeamp.devices.device import Device
from writeamp.results.numbers import json_number
from writeamp.runs.expectation import Expectation
from writeamp.runs.partial_pages import differs
from writeamp.studies.compare.row import Row


@dataclass(frozen=True, repr=False)
class OneLoad:
    """Rows of one load, in the order of the requested managers."""

    rows: tuple[Row, ...]

    @property
    def name(self) -> str:
        """Workload, or name of the trace."""
        return self.rows[0].workload

    @property
    def device(self) -> Device:
        """Drive of all rows."""
        return self.rows[0].results[0].device

    @property
    def partial_page_factor(self) -> float:
        """Bytes of the pages that the host wrote, divided by the bytes that it requested.

        It is the same for all rows; NaN if the bytes are unknown.
        """
        return self.rows[0].partial_page_factor

    @property
    def has_partial_pages(self) -> bool:
        """True if WA per byte visibly differs from WA per page."""
        return differs(self.partial_page_factor)

    @property
    def theory(self) -> list[Expectation]:
        """Theory's WA for uniform writes under FIFO and greedy, on an equally full drive."""
        return self.rows[0].results[0].uniform_theory

    @property
    def models(self) -> dict[str, float]:
        """WA by model: models of uniform writes, and models that describe a row's run."""
        of_rows = [row.theory for row in self.rows if row.theory]
        return {expected.model: expected.wa for expected in (*self.theory, *of_rows)}

    @property
    def held_in_words(self) -> str:
        """Op at which theory's WA is computed, with the reason if it is not the drive's op."""
        return self.rows[0].results[0].held_in_words

    def theory_in_words(self, *, named: bool) -> str:
        """Return theory's WA by model and its op as text; `named` adds the load's name."""
        subject = f"{self.name}, theory" if named else "theory"
        models = ", ".join(f"{wa:.4g} {model}" for model, wa in self.models.items())
        return f"{subject} at {self.held_in_words}: {models}"

    @property
    def notes(self) -> list[str]:
        """Notes on assumptions, omissions and rounding."""
        return self.rows[0].results[0].notes

    @property
    def by_wa(self) -> list[Row]:
        """Rows by ascending write amplification."""
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
            "theory": [vars(expected) for expected in self.theory],
        }


def load_labels(paths: Sequence[str]) -> tuple[str, ...]:
    """Return the shortest distinct ends of paths as labels; equal paths get a number.

    >>> load_labels(["monday/disk.csv", "tuesday/disk.csv", "log.csv"])
    ('monday/disk.csv', 'tuesday/disk.csv', 'log.csv')
    >>> load_labels(["trace", "trace"])
    ('trace (1)', 'trace (2)')
    """
    parts = [PurePath(path).parts or (path,) for path in paths]
    shown = [1] * len(parts)
    while True:
        names = [_ends(path_parts, count) for path_parts, count in zip(parts, shown, strict=True)]
        often = Counter(names)
        longer = [
            index
            for index, name in enumerate(names)
            if often[name] > 1 and shown[index] < len(parts[index])
        ]
        if not longer:
            return _numbered(names)
        for index in longer:
            shown[index] += 1


def _ends(parts: tuple[str, ...], count: int) -> str:
    return str(PurePath(*parts[-count:]))


def _numbered(names: Sequence[str]) -> tuple[str, ...]:
    often, seen = Counter(names), Counter[str]()
    labels = []
    for name in names:
        seen[name] += 1
        labels.append(f"{name} ({seen[name]})" if often[name] > 1 else name)
    return tuple(labels)
