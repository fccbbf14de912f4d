"""What a comparison found: write amplification of block managers on one drive and host."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from writeamp._engine import CAUSES, __version__
from writeamp.devices.device import Device
from writeamp.experiments.simulation_result import Result
from writeamp.plots.figures.wa_by_policy import PolicyResult, wa_by_policy
from writeamp.plots.output import save
from writeamp.plots.spec import BarChart
from writeamp.statistics.replicas import student_interval


@dataclass(frozen=True, repr=False)
class Row:
    """One manager's replicas, which differ by their seed only."""

    manager: str
    results: tuple[Result, ...]

    @property
    def wa(self) -> float:
        """Mean write amplification of the replicas."""
        return float(np.mean([result.wa for result in self.results]))

    @property
    def ci(self) -> tuple[float, float]:
        """The 95% interval of `wa`: Student's over replicas, or that of the only run."""
        if len(self.results) == 1:
            return self.results[0].ci
        return student_interval(np.array([result.wa for result in self.results]))

    @property
    def steady(self) -> bool:
        """True if every replica reached a steady state."""
        return all(result.steady for result in self.results)

    @property
    def victims(self) -> str:
        """The victim policy: the one asked for, or the manager's own."""
        return self.results[0].plan.policy.victims

    @property
    def hints(self) -> str | None:
        """What the host said of its pages: "groups", "invalidation_times", or None."""
        return self.results[0].hints

    @property
    def told(self) -> str | None:
        """The same in older words: "deaths" for invalidation times."""
        return self.results[0].told

    @property
    def causes(self) -> dict[str, float]:
        """Pages programmed in the measured interval by cause, mean of the replicas."""
        return {
            cause: float(np.mean([result.causes[cause] for result in self.results]))
            for cause in CAUSES
        }

    @property
    def pe_fairness(self) -> float:
        """Mean erases of a block over those of the most erased one, over the whole run."""
        counts = [result.erases_of_block for result in self.results]
        return float(np.mean([c.mean() / c.max() if c.max() else math.nan for c in counts]))

    @property
    def bytes_per_page(self) -> float:
        """Memory that the scheme needs per logical page, beside the map that every drive has."""
        first = self.results[0]
        return first.scheme_bytes / first.device.logical_pages

    @property
    def host_pages_per_s(self) -> float:
        """Host page writes simulated a second by one thread, median of the replicas."""
        return float(np.median([result.host_pages_per_s for result in self.results]))

    @property
    def label(self) -> str:
        """The manager, with what a reader of its bar should know."""
        hints = self.hints and f"hints: {self.hints.replace('_', ' ')}"
        notes = [note for note in (hints, "" if self.steady else "not steady") if note]
        return self.manager + (f" ({', '.join(notes)})" if notes else "")

    def to_dict(self) -> dict[str, Any]:
        """Return the row as JSON types."""
        return {
            "manager": self.manager,
            "victims": self.victims,
            "wa": self.wa,
            "wa_ci95": [None if math.isnan(bound) else bound for bound in self.ci],
            "told": self.told,
            "hints": self.hints,
            "steady": self.steady,
            "causes": self.causes,
            "pe_fairness": None if math.isnan(self.pe_fairness) else self.pe_fairness,
            "bytes_per_page": self.bytes_per_page,
            "host_pages_per_s": self.host_pages_per_s,
        }


@dataclass(frozen=True, repr=False)
class Comparison:
    """The rows in the order of the managers asked for."""

    rows: tuple[Row, ...]

    @property
    def device(self) -> Device:
        """The drive, the same for all."""
        return self.rows[0].results[0].device

    @cached_property
    def table(self) -> pl.DataFrame:
        """One row for each manager, with the keys of `--json`; causes and interval unfolded."""
        flat = []
        for row in self.rows:
            found = row.to_dict()
            low, high = found.pop("wa_ci95")
            causes = {f"{cause}_pages": pages for cause, pages in found.pop("causes").items()}
            flat.append({**found, "wa_low": low, "wa_high": high, **causes})
        return pl.DataFrame(flat)

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as JSON types, with the keys of `writeamp compare --json`."""
        first = self.rows[0].results[0]
        return {
            "rows": [row.to_dict() for row in self.rows],
            "workload": first.plan.load_name,
            **first.device.facts(),
            "replicas": len(self.rows[0].results),
            "writes": first.writes,
            "warmup_pages": first.warmup_pages,
            "seed": first.plan.seed,
            "version": __version__,
            "warnings": self.warnings,
        }

    @property
    def warnings(self) -> list[str]:
        """Sentences that a reader of the table should know."""
        unsteady = [row.manager for row in self.rows if not row.steady]
        if not unsteady:
            return []
        return [f"not steady, so this WA may not last: {', '.join(unsteady)}"]

    def figure(self) -> BarChart:
        """Describe write amplification of each manager, by cause, the least on top."""
        device, first = self.device, self.rows[0].results[0]
        rows = [
            PolicyResult(
                row.label,
                row.wa,
                {cause: round(pages) for cause, pages in row.causes.items()},
                *row.ci,
            )
            for row in sorted(self.rows, key=lambda row: row.wa)
        ]
        return wa_by_policy(
            rows,
            title=f"Write amplification by block manager: {first.plan.load_name}",
            subtitle=(
                f"op = (T-U)/U = {device.op:.4g} · {device.name}, {device.layout} · "
                f"{len(self.rows[0].results)} run(s) each"
            ),
        )

    def plot(self, path: str | Path) -> None:
        """Draw WA of every manager, by cause, to a .png, .svg, .pdf or .html file."""
        save(self.figure(), path)
