"""What a comparison found: write amplification of block managers on one drive and host."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from writeamp._engine import CAUSES, __version__
from writeamp.devices.device import Device
from writeamp.experiments.byte_amplification import differs
from writeamp.experiments.counts import flash_pages
from writeamp.experiments.scale import Scaling
from writeamp.experiments.simulation_result import Result
from writeamp.experiments.words import drive_in_words
from writeamp.plots.drawn import Drawn
from writeamp.plots.figures.wa_by_policy import PolicyResult, wa_by_policy
from writeamp.plots.spec import BarChart
from writeamp.plots.style import with_error
from writeamp.presentation.card import Card
from writeamp.statistics.replicas import student_interval
from writeamp.statistics.steady import analyse
from writeamp.text import printable


@dataclass(frozen=True, repr=False)
class Row:
    """One manager's replicas, which differ by their seed only."""

    manager: str
    results: tuple[Result, ...]
    scaling: Scaling | None = None
    """Of a capacity: the drive that was simulated for it, and the error of that."""

    @property
    def wa(self) -> float:
        """Mean write amplification of the replicas."""
        return float(np.mean([result.wa for result in self.results]))

    @property
    def ci(self) -> tuple[float, float]:
        """The 95% interval of `wa`: Student's over replicas, or of one run if all are alike.

        Of a capacity, the error of scaling is part of it.
        """
        found = np.array([result.wa for result in self.results])
        # Replicas that draw nothing at random repeat one run, and tell nothing of its noise.
        own = self.results[0].ci if np.all(found == found[0]) else student_interval(found)
        return self.scaling.widened(own) if self.scaling else own

    @property
    def wa_bytes(self) -> float:
        """Flash bytes programmed per byte that the host asked to write; NaN if unknown."""
        return self.wa * self.partial_page_factor

    @property
    def partial_page_factor(self) -> float:
        """Bytes of the pages that the host wrote over the bytes that it asked to write, or NaN."""
        return float(np.mean([result.partial_page_factor for result in self.results]))

    @property
    def steady(self) -> bool:
        """True if the replicas together reached a steady state; `steady_reason` says why.

        Most of them did, or, where most did not but some, their mean did.
        """
        return self._judged[0]

    @property
    def steady_reason(self) -> str:
        """Why it did, or did not."""
        return self._judged[1]

    @cached_property
    def _judged(self) -> tuple[bool, str]:
        runs = len(self.results)
        unsteady = [result.steady_state for result in self.results if not result.steady]
        # What all runs are unsteady for lies in what they do, not in the draws of one.
        if len(unsteady) == runs:
            return False, unsteady[0].reason
        if 2 * len(unsteady) <= runs:
            steady = next(result.steady_state for result in self.results if result.steady)
            of_all = f"{runs - len(unsteady)} of {runs} runs are steady: " if runs > 1 else ""
            return True, f"{of_all}{steady.reason}"
        warmup_pages = self.results[0].warmup_pages
        mean = analyse(*_mean_intervals(self.results), warmup=warmup_pages)
        return mean.steady, f"{mean.reason}, in the mean of {runs} runs"

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
            "wa_bytes": None if math.isnan(self.wa_bytes) else self.wa_bytes,
            **({"scaling_error": self.scaling.facts()["scaling_error"]} if self.scaling else {}),
            "told": self.told,
            "hints": self.hints,
            "steady": self.steady,
            "steady_reason": self.steady_reason,
            "causes": self.causes,
            "pe_fairness": None if math.isnan(self.pe_fairness) else self.pe_fairness,
            "bytes_per_page": self.bytes_per_page,
            "host_pages_per_s": self.host_pages_per_s,
        }


@dataclass(frozen=True, repr=False, eq=False)
class Comparison(Drawn):
    """The rows in the order of the managers asked for.

    One that was interrupted has rows of the managers that were finished; `interrupted_of` then
    names all that were asked for.
    """

    rows: tuple[Row, ...]
    interrupted_of: tuple[str, ...] = ()

    @property
    def unfinished(self) -> list[str]:
        """The managers that were asked for and not finished."""
        finished = [row.manager for row in self.rows]
        return [manager for manager in self.interrupted_of if manager not in finished]

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
        interrupted = {"interrupted": True, "unfinished": self.unfinished}
        return {
            **(interrupted if self.interrupted_of else {}),
            "rows": [row.to_dict() for row in self.rows],
            "workload": first.plan.load_name,
            **first.device.facts(),
            **self._facts_of_scaling(),
            "replicas": len(self.rows[0].results),
            "writes": first.writes,
            "warmup_pages": first.warmup_pages,
            "precondition": first.plan.host.precondition,
            "partial_page_factor": None
            if math.isnan(self.partial_page_factor)
            else self.partial_page_factor,
            "seed": first.plan.seed,
            "version": __version__,
            "warnings": self.warnings,
            "notes": self.notes,
        }

    @property
    def warnings(self) -> list[str]:
        """Sentences that a reader of the table should know."""
        of_rows = [
            f"{row.manager} is not steady, so its WA may not last: {row.steady_reason}"
            for row in self.rows
            if not row.steady
        ]
        of_rows += [
            f"{row.manager}: {sentence}"
            for row in self.rows
            if row.scaling and (sentence := row.scaling.warning(row.wa))
        ]
        of_drives = (result.warnings_of_the_drive for row in self.rows for result in row.results)
        # What holds of one drive mostly holds of all.
        return of_rows + list(dict.fromkeys(sentence for found in of_drives for sentence in found))

    @property
    def notes(self) -> list[str]:
        """Sentences on what was assumed, left out or rounded."""
        return self.rows[0].results[0].notes

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
                self._per_byte()
                + f"op = (T-U)/U = {device.op:.4g} · {printable(device.name)}, {device.layout} · "
                f"{len(self.rows[0].results)} run(s) each"
            ),
        )

    def _facts_of_scaling(self) -> dict[str, Any]:
        """Return the drive that stands for a capacity; each row has an error of its own."""
        scaling = self.rows[0].scaling
        facts = scaling.facts() if scaling else {}
        return {name: one for name, one in facts.items() if name != "scaling_error"}

    def _per_byte(self) -> str:
        if not self.has_partial_pages:
            return ""
        factor, found = self.partial_page_factor, [row.wa_bytes for row in self.rows]
        return (
            f"WA per host byte {min(found):.3f} to {max(found):.3f} = WA per page × {factor:.3f} "
            "(pages written in part)\n"
        )

    def card(self) -> Card:
        """Return a row for each manager, the least WA first."""
        others = [
            cause
            for cause in CAUSES
            if cause != "host" and any(row.causes[cause] for row in self.rows)
        ]
        rows = [
            (
                row.label,
                row.victims,
                with_error(row.wa, *row.ci),
                *(f"{row.causes[cause] / row.causes['host']:.3f}" for cause in others),
                f"{row.pe_fairness:.3f}",
            )
            for row in sorted(self.rows, key=lambda row: row.wa)
        ]
        of_causes = [f">{cause.replace('_', ' ')}/host" for cause in others]
        return Card(
            f"{self.rows[0].results[0].plan.load_name} on {drive_in_words(self.device)}",
            rows,
            ("manager", "victims", ">WA", *of_causes, ">wear fairness"),
            warnings=self.warnings,
            notes=self.notes,
        )

    def _records(self) -> list[dict[str, Any]]:
        return [row.to_dict() for row in self.rows]


def _mean_intervals(
    results: tuple[Result, ...],
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return host pages of each interval, and flash pages in the mean of runs sampled alike."""
    host = np.diff(results[0].samples["host_pages"]).astype(np.float64)
    flash = [np.diff(flash_pages(result.samples)) for result in results]
    return host, np.mean(flash, axis=0, dtype=np.float64)
