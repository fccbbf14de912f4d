"""Table of what was tried, by kind of call, as Markdown."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from pool import Tried


@dataclass
class _Row:
    tries: int = 0
    results: int = 0
    findings: int = 0
    cpu_s: float = 0.0
    slowest_s: float = 0.0
    slowest: int = 0

    def add(self, tried: Tried) -> None:
        """Count a call."""
        self.tries += 1
        self.results += tried.is_result
        self.findings += tried.fault is not None
        self.cpu_s += tried.elapsed_s
        if tried.elapsed_s > self.slowest_s:
            self.slowest_s, self.slowest = tried.elapsed_s, tried.number

    def cells(self, name: str) -> str:
        """Return the row of the table."""
        refusals = self.tries - self.results
        share = f"{self.results / self.tries:.0%}" if self.tries else "–"
        return (
            f"| {name} | {self.tries:,} | {self.results:,} | {refusals:,} | {share} "
            f"| {self.findings:,} | {self.cpu_s:,.0f} | {self.slowest_s:.2f} | {self.slowest} |"
        )


@dataclass
class Table:
    """Counts of calls by kind; a result with something wrong counts as a result, too."""

    rows: dict[str, _Row] = field(default_factory=lambda: defaultdict(_Row))
    total: _Row = field(default_factory=_Row)

    def add(self, tried: Tried) -> None:
        """Count a call."""
        self.rows[tried.kind].add(tried)
        self.total.add(tried)

    def lines(self) -> Iterator[str]:
        """Return the lines of the table."""
        yield (
            "| call | tries | results | refusals | share of results | findings | CPU s "
            "| slowest, s | its number |"
        )
        yield "|---|---|---|---|---|---|---|---|---|"
        for name, row in sorted(self.rows.items()):
            yield row.cells(f"`{name}`")
        yield self.total.cells("all")
