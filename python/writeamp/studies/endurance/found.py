"""Lives of drives in numbers: fairness of wear, endurance and write amplification (paper 4)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from writeamp.runs.capacity_error import LifeScalingErrors
from writeamp.runs.daily_writes import (
    DAYS_PER_YEAR,
    WARRANTY_YEARS,
    drive_writes_a_day,
    warranty_days,
)
from writeamp.runs.lifetime_plan import Counts, Lifetime
from writeamp.runs.seeds import replica_seed
from writeamp.statistics.replicas import student_interval, student_intervals
from writeamp.studies.study import StoreStats

_Floats: TypeAlias = npt.NDArray[np.float64]

_TERABYTE = 10**12

# Enough bars to see the shape, few enough for a table.
_MOST_BINS = 50


@dataclass(frozen=True, repr=False, eq=False)
class FoundLives:
    """Lives of drives that differ by their seed, and the means over them.

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
    scaling: LifeScalingErrors | None = None
    """Of a capacity: the drive that was simulated for it, and the errors of that."""
    kept: StoreStats | None = field(default=None, compare=False)
    """The folder in which the lives were kept, if there is one."""

    @property
    def replicas(self) -> int:
        """Lives that came to their end."""
        return len(self.seeds)

    @cached_property
    def unfinished(self) -> tuple[int, ...]:
        """Seeds of the lives that did not come to their end."""
        finished = set(self.seeds.tolist())
        asked = (replica_seed(self.plan.seed, one) for one in range(self.plan.replicas))
        return tuple(seed for seed in asked if seed not in finished)

    @property
    def pe_fairness(self) -> float:
        """Mean erases of a block at the end of life over `w_max`: E[Y]/(W_max·N) (paper 4, §5)."""
        return float(self.lives["pe_fairness"].to_numpy().mean())

    @property
    def pe_fairness_ci95(self) -> tuple[float, float]:
        """The interval of `pe_fairness`."""
        low, high = self._interval("pe_fairness")
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
        return self._interval("endurance_full_drive_writes")

    @property
    def endurance_logical_drive_writes(self) -> float:
        """Endurance in writes of the logical capacity; vendors count as `tbw` does."""
        device = self.plan.device
        return self.endurance_full_drive_writes * device.physical_pages / device.logical_pages

    @property
    def wa(self) -> float:
        """Flash pages programmed per host page from the fill to the end of life, mean of lives."""
        return float(self.end.wa.mean())

    @property
    def ci(self) -> tuple[float, float]:
        """The 95% confidence interval of `wa`."""
        return self._interval("wa")

    @property
    def host_pages(self) -> float:
        """Pages that the host wrote from the fill to the end of life, mean of lives."""
        return float(self.end.host_pages.mean())

    @property
    def host_bytes(self) -> float:
        """Bytes that the host wrote from the fill to the end of life, mean of lives."""
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
        low, high = self._interval("drive_writes")
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
        low, high = self._interval("drive_writes")
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
        """Table of the figures as they would be if blocks endured `w` erases, for w ≤ `w_max`.

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
        notes = [*self.plan.notes, *(self.kept.notes if self.kept else [])]
        if self.unfinished:
            notes.append(
                f"interrupted when {self.replicas} of {self.plan.replicas} replicas had come to "
                "their end of life; those that end first may be the shorter lives"
            )
        notes += self.scaling.scale.warnings if self.scaling else []
        if self.replicas == 1:
            notes.append("one replica tells nothing of the scatter; more give an interval")
        elif np.all(self.erases_of_block == self.erases_of_block[0]):
            notes.append(
                "all replicas are alike, since nothing in this run is drawn at random; one suffices"
            )
        return notes

    @property
    def _drive_writes(self) -> _Floats:
        """Writes of the logical capacity from the fill to the end of each life."""
        return np.asarray(self.end.host_pages / self.plan.device.logical_pages)

    @property
    def measures(self) -> dict[str, _Floats]:
        """Figures of each life that have an interval over the lives."""
        names = ("pe_fairness", "endurance_full_drive_writes")
        of_table = {name: self.lives[name].to_numpy() for name in names}
        return {"wa": self.end.wa, **of_table, "drive_writes": self._drive_writes}

    def _interval(self, name: str) -> tuple[float, float]:
        """Return the interval of one of the `measures`, with the error of scaling."""
        found = student_interval(self.measures[name])
        if self.scaling is None:
            return found
        return self.scaling.widened(found, name)

    def _fairness(self, counts: Counts, w: npt.ArrayLike) -> _Floats:
        return counts.erases / (self.plan.device.geometry.blocks * np.asarray(w, np.float64))

    def _endurance(self, counts: Counts) -> _Floats:
        geometry = self.plan.device.geometry
        # What was skipped had been made room for but was never written.
        freed_pages = (
            geometry.pages_per_block * counts.erases - counts.migrated - counts.skipped_pages
        )
        return np.asarray(freed_pages / geometry.physical_pages)
