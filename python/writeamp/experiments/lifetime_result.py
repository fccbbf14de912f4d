"""What the lives of drives show: fairness of wear, endurance and write amplification (paper 4)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from writeamp._engine import __version__
from writeamp.experiments.daily_writes import (
    DAYS_PER_YEAR,
    WARRANTY_YEARS,
    check_positive,
    drive_writes_a_day,
    warranty_days,
)
from writeamp.experiments.life_scaling import LifeScaling
from writeamp.experiments.lifetime_plan import Counts, Lifetime
from writeamp.experiments.scale import widened
from writeamp.experiments.words import causes_in_words, drive_in_words, wa_in_words
from writeamp.plots.drawn import Drawn
from writeamp.plots.figures.life import LifeCurve, erases_of_blocks, life_over_w
from writeamp.plots.output import save
from writeamp.plots.spec import LineChart, PanelChart
from writeamp.presentation.card import Card, Spark
from writeamp.statistics.replicas import student_interval, student_intervals
from writeamp.text import printable

_Floats: TypeAlias = npt.NDArray[np.float64]

_TERABYTE = 10**12

# Enough bars to see the shape, few enough for a table.
_MOST_BINS = 50


@dataclass(frozen=True, repr=False, eq=False)
class Endurance(Drawn):
    """The lives of drives that differ by their seed, and the means over them.

    N is the blocks of the drive, spare ones included, and b the pages of a block. Intervals are
    Student's, at 95%, over the replicas; NaN for one replica.
    """

    plan: Lifetime
    end: Counts
    """At the end of each life, shape (replicas,)."""
    reached: Counts
    """When the first block was erased for the w-th time, shape (replicas, w_max)."""
    erases_of_block: npt.NDArray[np.uint64]
    """Erases of each block at the end of each life, shape (replicas, blocks)."""
    seeds: npt.NDArray[np.uint64]
    """The seed of each life, shape (replicas,): fewer than the plan has if it was interrupted."""
    elapsed_s: float = field(compare=False)
    scaling: LifeScaling | None = None
    """Of a capacity: the drive that was simulated for it, and the errors of that."""

    @property
    def replicas(self) -> int:
        """The lives that came to their end."""
        return len(self.seeds)

    @property
    def interrupted(self) -> bool:
        """True if not every replica came to its end."""
        return self.replicas < self.plan.replicas

    @property
    def pe_fairness(self) -> float:
        """Mean erases of a block at the end of life over `w_max`: E[Y]/(W_max·N) (paper 4, §5)."""
        return float(self.lives["pe_fairness"].to_numpy().mean())

    @property
    def pe_fairness_ci95(self) -> tuple[float, float]:
        """The interval of `pe_fairness`."""
        low, high = self._interval(self.lives["pe_fairness"].to_numpy(), "pe_fairness")
        # No drive is fairer than 1; min() would lose a NaN.
        return low, 1.0 if high > 1 else high

    @property
    def endurance_full_drive_writes(self) -> float:
        """Host writes that collection made room for until the end of life (paper 4, §6).

        In writes of the physical capacity: E[Σ(b−j)]/(b·N), j being the valid pages of each victim.
        """
        return float(self.lives["endurance_full_drive_writes"].to_numpy().mean())

    @property
    def endurance_ci95(self) -> tuple[float, float]:
        """The interval of `endurance_full_drive_writes`."""
        name = "endurance_full_drive_writes"
        return self._interval(self.lives[name].to_numpy(), name)

    @property
    def endurance_logical_drive_writes(self) -> float:
        """The endurance in writes of the logical capacity, as vendors count (DWPD)."""
        device = self.plan.device
        return self.endurance_full_drive_writes * device.physical_pages / device.logical_pages

    @property
    def wa(self) -> float:
        """Flash pages programmed per host page from the fill to the end of life, mean of lives."""
        return float(self.end.wa.mean())

    @property
    def wa_ci95(self) -> tuple[float, float]:
        """The interval of `wa`."""
        return self._interval(self.end.wa, "wa")

    @property
    def host_pages(self) -> float:
        """Pages that the host wrote from the fill to the end of life, mean of lives."""
        return float(self.end.host_pages.mean())

    @property
    def host_bytes(self) -> float:
        """The same in bytes."""
        return self.host_pages * self.plan.device.page_bytes

    @property
    def capacity_bytes(self) -> float:
        """Bytes that the host sees of the drive that is meant."""
        stated = self.plan.capacity_bytes
        return self.plan.device.capacity_bytes if stated is None else stated

    @property
    def tbw(self) -> float:
        """Terabytes (10^12 bytes) that the host writes to the drive that is meant in its life.

        Writes of the logical capacity, from the fill to the end of life, times the capacity.
        """
        return float(self._drive_writes.mean()) * self.capacity_bytes / _TERABYTE

    @property
    def tbw_ci95(self) -> tuple[float, float]:
        """The interval of `tbw`."""
        low, high = self._interval(self._drive_writes, "drive_writes")
        terabytes = self.capacity_bytes / _TERABYTE
        return low * terabytes, high * terabytes

    def dwpd(self, warranty_years: float = WARRANTY_YEARS) -> float:
        """Return the writes of the logical capacity a day that use up a life in so many years.

        Args:
            warranty_years: of 365 days.

        Raises:
            WriteampError: it is not a finite number above 0.
        """
        return float(self._drive_writes.mean()) / warranty_days(warranty_years)

    def dwpd_ci95(self, warranty_years: float = WARRANTY_YEARS) -> tuple[float, float]:
        """Return the interval of `dwpd`."""
        low, high = self._interval(self._drive_writes, "drive_writes")
        days = warranty_days(warranty_years)
        return low / days, high / days

    @property
    def causes(self) -> dict[str, float]:
        """Pages programmed from the fill to the end of life by cause, mean of lives."""
        migrated = {cause: float(pages.mean()) for cause, pages in self.end.migrated_pages.items()}
        return {"host": float(self.end.host_programs.mean())} | migrated

    @cached_property
    def lives(self) -> pl.DataFrame:
        """One row for each replica.

        Columns: `seed`, `erases`, `host_pages` (after the fill), `pe_fairness`,
        `endurance_full_drive_writes`, and `wa`, all at the end of life.
        """
        return pl.DataFrame(
            {
                "seed": self.seeds,
                "erases": self.end.erases.astype(np.uint64),
                "host_pages": self.end.host_pages.astype(np.uint64),
                "pe_fairness": self._fairness(self.end, self.plan.w_max),
                "endurance_full_drive_writes": self._endurance(self.end),
                "wa": self.end.wa,
            }
        )

    @cached_property
    def curve(self) -> pl.DataFrame:
        """What the figures would be if blocks endured `w` erases, one row for each w ≤ `w_max`.

        A life ends here when the first block was erased for the w-th time; spare blocks only come
        into play at `w_max`, and only the end of life knows of them. Columns: `w`; `pe_fairness`
        and `endurance_full_drive_writes`, each with `_low` and `_high`; and `wa`.
        """
        w = np.arange(1, self.plan.w_max + 1)
        columns: dict[str, npt.ArrayLike] = {"w": w}
        for name, values in (
            ("pe_fairness", self._fairness(self.reached, w)),
            ("endurance_full_drive_writes", self._endurance(self.reached)),
        ):
            columns[name] = values.mean(axis=0)
            columns[f"{name}_low"], columns[f"{name}_high"] = student_intervals(values)
        columns["wa"] = self.reached.wa.mean(axis=0)
        return pl.DataFrame(columns)

    @cached_property
    def erase_histogram(self) -> pl.DataFrame:
        """Blocks of all replicas by their erases at the end of life.

        Columns: `erases_from` and `erases_to`, the least and the most erases of a bin (equally
        wide bins, 50 at most, from 0 to `w_max` or a little beyond), and `blocks` in it.
        """
        width = math.ceil((self.plan.w_max + 1) / _MOST_BINS)
        bins = math.ceil((self.plan.w_max + 1) / width)
        bin_of_block = self.erases_of_block.astype(np.int64).ravel() // width
        first = np.arange(bins) * width
        blocks = np.bincount(bin_of_block, minlength=bins)
        return pl.DataFrame(
            {"erases_from": first, "erases_to": first + width - 1, "blocks": blocks}
        )

    def years(self, daily_bytes: float, *, capacity_bytes: float | None = None) -> float:
        """Return how many years of 365 days the drive lives if the host writes so much a day.

        Args:
            daily_bytes: what the host writes in a day.
            capacity_bytes: what the host sees of the drive that is meant, if this one stands for a
                larger: that lives for as many writes of its logical capacity; by default the
                `capacity` that was asked for, or this drive's own.

        Raises:
            WriteampError: as `drive_writes_a_day`.
        """
        device = self.plan.device
        capacity_bytes = self.plan.capacity_bytes if capacity_bytes is None else capacity_bytes
        days = self.host_pages / device.logical_pages
        days /= drive_writes_a_day(device, daily_bytes, capacity_bytes)
        return days / DAYS_PER_YEAR

    @property
    def notes(self) -> list[str]:
        """Sentences on what was assumed, left out or rounded."""
        notes = [*self.plan.notes]
        if self.interrupted:
            notes.append(
                f"interrupted when {self.replicas} of {self.plan.replicas} replicas had come to "
                "their end of life; those that end first may be the shorter lives"
            )
        if self.replicas == 1:
            notes.append("one replica tells nothing of the scatter; more give an interval")
        elif np.all(self.erases_of_block == self.erases_of_block[0]):
            notes.append(
                "all replicas are alike, since nothing in this run is drawn at random; one suffices"
            )
        return notes

    def to_dict(
        self,
        *,
        curve: bool = False,
        daily_bytes: float | None = None,
        capacity_bytes: float | None = None,
        warranty_years: float = WARRANTY_YEARS,
    ) -> dict[str, Any]:
        """Return the result as JSON types, with the keys of `writeamp endurance --json`.

        Args:
            curve: add the `curve`, a list for each column.
            daily_bytes: add the `years` that the drive lives if the host writes so much a day.
            capacity_bytes: of the drive that these are written to, as in `years`.
            warranty_years: over which `dwpd` are counted.
        """
        plan = self.plan
        if capacity_bytes is not None:
            # Checked here, since it decides more than the years.
            check_positive("capacity_bytes", capacity_bytes)
            meant = replace(self, plan=replace(plan, capacity_bytes=capacity_bytes))
            return meant.to_dict(
                curve=curve, daily_bytes=daily_bytes, warranty_years=warranty_years
            )
        found: dict[str, Any] = {
            "pe_fairness": self.pe_fairness,
            "pe_fairness_ci95": _json(self.pe_fairness_ci95),
            "endurance_full_drive_writes": self.endurance_full_drive_writes,
            "endurance_ci95": _json(self.endurance_ci95),
            "endurance_logical_drive_writes": self.endurance_logical_drive_writes,
            "wa": _json([self.wa])[0],
            "wa_ci95": _json(self.wa_ci95),
            "host_pages": self.host_pages,
            "host_bytes": self.host_bytes,
            "tbw": self.tbw,
            "tbw_ci95": _json(self.tbw_ci95),
            "dwpd": self.dwpd(warranty_years),
            "dwpd_ci95": _json(self.dwpd_ci95(warranty_years)),
            "warranty_years": warranty_years,
            "causes": self.causes,
            "erases": float(self.end.erases.mean()),
        }
        if self.interrupted:
            found |= {"interrupted": True, "replicas_asked": plan.replicas}
        if daily_bytes is not None:
            years = self.years(daily_bytes)
            found |= {"daily_bytes": daily_bytes, "years": years}
        found |= {
            "erase_histogram": self.erase_histogram.to_dicts(),
            "w_max": plan.w_max,
            "replicas": self.replicas,
            "seed": plan.seed,
            "spare_share": plan.run.spare_share,
            "spare_blocks": plan.spare_blocks,
            **plan.device.facts(),
            # Of the drive that is meant, where this one stands for a larger one.
            "capacity_bytes": self.capacity_bytes,
            **(self.scaling.facts() if self.scaling else {}),
            "utilization": plan.host.utilization,
            "precondition": plan.host.precondition,
            "device": plan.device.name,
            "workload": plan.load_name,
            **plan.policy.facts(),
            "version": __version__,
            "elapsed_s": self.elapsed_s,
            "threads": plan.threads,
            "notes": self.notes,
        }
        if curve:
            columns = self.curve.to_dict(as_series=False)
            found["curve"] = {name: _json(values) for name, values in columns.items()}
        return found

    def figure(self) -> PanelChart:
        """Describe PE fairness and endurance against W."""
        title = f"PE fairness and endurance: {self.plan.load_name}"
        interval = " · thin: 95% confidence" if self.replicas > 1 else ""
        return life_over_w([self.life_curve()], title=title, subtitle=self._subtitle() + interval)

    def life_curve(self, label: str | None = None) -> LifeCurve:
        """Return the two functions of W, named by what the drives worked by unless by a label."""
        curve = self.curve
        fairness, endurance = "pe_fairness", "endurance_full_drive_writes"
        return LifeCurve(
            label or str(self.plan.policy),
            curve["w"].to_numpy(),
            *(curve[f"{fairness}{bound}"].to_numpy() for bound in ("", "_low", "_high")),
            *(curve[f"{endurance}{bound}"].to_numpy() for bound in ("", "_low", "_high")),
        )

    def erases_figure(self) -> LineChart:
        """Describe how often the blocks were erased by the end of life."""
        bins = self.erase_histogram
        return erases_of_blocks(
            bins["erases_from"].to_list(),
            bins["blocks"].to_list(),
            width=bins["erases_to"][0] + 1,
            label=str(self.plan.policy),
            title=f"Wear at the end of life: {self.plan.load_name}",
            subtitle=f"{self._subtitle()} · PE fairness {self.pe_fairness:.4f}",
        )

    def card(self) -> Card:
        """Return the main facts in words, with the endurance over W as a line."""
        plan, (low, high) = self.plan, self.endurance_ci95
        fairness = self.pe_fairness_ci95
        rows = [
            (
                "endurance",
                f"{self.endurance_full_drive_writes:,.2f} full drive writes"
                + ("" if math.isnan(low) else f" (95% CI {low:,.2f} to {high:,.2f})"),
            ),
            (
                "as vendors say",
                f"{self.tbw:,.4g} TBW of {self.capacity_bytes:,.0f} bytes, {self.dwpd():.3g} DWPD "
                f"over {WARRANTY_YEARS:g} years",
            ),
            ("PE fairness", wa_in_words(self.pe_fairness, fairness)),
            ("write amplification", wa_in_words(self.wa, self.wa_ci95)),
            ("workload", plan.load_name),
            ("manager, victims", str(plan.policy)),
            ("drive", drive_in_words(plan.device)),
            ("run", f"{self.replicas} lives to W_max {plan.w_max:,}"),
            ("programmed", f"{causes_in_words(self.causes)} pages, mean of lives"),
        ]
        curve = self.curve
        spark = Spark(
            curve["w"], curve["endurance_full_drive_writes"], "endurance by erases of a block"
        )
        return Card("Endurance", rows, notes=self.notes, spark=spark)

    def plot_erases(self, path: str | Path) -> None:
        """Draw the erase histogram to a .png, .svg, .pdf or .html file."""
        save(self.erases_figure(), path)

    def _subtitle(self) -> str:
        device, plan = self.plan.device, self.plan
        return (
            f"op = (T-U)/U = {device.op:.4g} · device {printable(device.name)}: "
            f"{device.geometry.blocks:,} blocks of {device.geometry.pages_per_block:,} pages · "
            f"W_max {plan.w_max:,} · {self.replicas} replicas from seed {plan.seed}"
        )

    def __str__(self) -> str:
        """Return the result in a line."""
        low, high = self.endurance_ci95
        return (
            f"endurance {self.endurance_full_drive_writes:.2f} full drive writes (95% CI {low:.2f} "
            f"to {high:.2f}) at PE fairness {self.pe_fairness:.4f}, W_max {self.plan.w_max}, of "
            f"{self.plan.load_name} under {self.plan.policy} at op "
            f"{self.plan.device.op:.4g}"
        )

    def __repr__(self) -> str:
        """Return the line in brackets: the arrays would fill a page."""
        return f"<Endurance: {self}>"

    @property
    def _drive_writes(self) -> _Floats:
        """Writes of the logical capacity from the fill to the end of each life."""
        return np.asarray(self.end.host_pages / self.plan.device.logical_pages)

    def _interval(self, of_lives: _Floats, name: str) -> tuple[float, float]:
        """Return the interval of a mean over lives, with the error of scaling of that name."""
        found = student_interval(of_lives)
        if self.scaling is None:
            return found
        return widened(found, getattr(self.scaling, name), least=1.0 if name == "wa" else 0.0)

    def _fairness(self, counts: Counts, w: npt.ArrayLike) -> _Floats:
        return counts.erases / (self.plan.device.geometry.blocks * np.asarray(w, np.float64))

    def _endurance(self, counts: Counts) -> _Floats:
        geometry = self.plan.device.geometry
        # What was skipped had been made room for but was never written.
        freed_pages = (
            geometry.pages_per_block * counts.erases - counts.migrated - counts.skipped_pages
        )
        return np.asarray(freed_pages / geometry.physical_pages)


def _json(values: Any) -> list[Any]:
    """Return the values with null for what JSON has no number for."""
    return [None if isinstance(value, float) and math.isnan(value) else value for value in values]
