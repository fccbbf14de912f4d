"""Statistics of drives' lives: fairness of wear, endurance and WA (paper 4)."""

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

# Enough bars for the shape, few enough for a table.
_MOST_BINS = 50


@dataclass(frozen=True, repr=False, eq=False)
class LifeStatistics:
    """Lives of drives with different seeds, and the means over them.

    N is the number of blocks of the drive, including spare ones, and b the pages of a block.
    Intervals are Student's, at 95%, over the replicas; NaN for one replica.
    """

    plan: Lifetime
    end: Counts
    """Counters at the end of each life, shape (replicas,)."""
    reached: Counts
    """Counters when the first block was erased for the w-th time, shape (replicas, w_max)."""
    erases_of_block: npt.NDArray[np.uint64]
    """Erases of each block at the end of each life, shape (replicas, blocks)."""
    seeds: npt.NDArray[np.uint64]
    """Seed of each finished life, shape (replicas,); fewer than planned if interrupted."""
    elapsed_s: float = field(compare=False)
    scaling: LifeScalingErrors | None = None
    """Scale and errors of the drive that was simulated for a capacity, or None."""
    store_stats: StoreStats | None = field(default=None, compare=False)
    """Statistics of the folder that stores the lives, or None."""

    @property
    def replicas(self) -> int:
        """Number of finished lives."""
        return len(self.seeds)

    @cached_property
    def unfinished(self) -> tuple[int, ...]:
        """Seeds of the lives that were not finished."""
        finished = set(self.seeds.tolist())
        seeds = (replica_seed(self.plan.seed, replica) for replica in range(self.plan.replicas))
        return tuple(seed for seed in seeds if seed not in finished)

    @property
    def pe_fairness(self) -> float:
        """Mean erases of a block at the end of life over `w_max`: E[Y]/(W_max·N) (paper 4, §5)."""
        return float(self.lives["pe_fairness"].to_numpy().mean())

    @property
    def pe_fairness_ci95(self) -> tuple[float, float]:
        """The 95% interval of `pe_fairness`."""
        low, high = self._interval("pe_fairness")
        # Fairness is at most 1; min() would lose a NaN.
        return low, 1.0 if high > 1 else high

    @property
    def endurance_full_drive_writes(self) -> float:
        """Host writes until the end of life, as collection made room for them (paper 4, §6).

        In writes of the physical capacity: E[Σ(b−j)]/(b·N), where j is the number of valid pages of
        each victim.
        """
        return float(self.lives["endurance_full_drive_writes"].to_numpy().mean())

    @property
    def endurance_ci95(self) -> tuple[float, float]:
        """The 95% interval of `endurance_full_drive_writes`."""
        return self._interval("endurance_full_drive_writes")

    @property
    def endurance_logical_drive_writes(self) -> float:
        """Endurance in writes of the logical capacity; vendors instead state `tbw`."""
        device = self.plan.device
        return self.endurance_full_drive_writes * device.physical_pages / device.logical_pages

    @property
    def wa(self) -> float:
        """Flash pages programmed per host page, from fill to end of life; mean over lives."""
        return float(self.end.wa.mean())

    @property
    def ci(self) -> tuple[float, float]:
        """The 95% confidence interval of `wa`."""
        return self._interval("wa")

    @property
    def host_pages(self) -> float:
        """Pages that the host wrote from the fill to the end of life, mean over lives."""
        return float(self.end.host_pages.mean())

    @property
    def host_bytes(self) -> float:
        """Bytes that the host wrote from the fill to the end of life, mean over lives."""
        return self.host_pages * self.plan.device.page_bytes

    @property
    def capacity_bytes(self) -> float:
        """Logical capacity of the requested drive, in bytes."""
        stated = self.plan.capacity_bytes
        return self.plan.device.capacity_bytes if stated is None else stated

    @property
    def tbw(self) -> float:
        """Terabytes (10^12 bytes) that the host writes to the requested drive in its life.

        Writes of the logical capacity, from the fill to the end of life, times the capacity.
        """
        return float(self._drive_writes.mean()) * self.capacity_bytes / _TERABYTE

    @property
    def tbw_ci95(self) -> tuple[float, float]:
        """The 95% interval of `tbw`."""
        low, high = self._interval("drive_writes")
        terabytes = self.capacity_bytes / _TERABYTE
        return low * terabytes, high * terabytes

    def dwpd(self, warranty_years: float = WARRANTY_YEARS) -> float:
        """Return the drive writes a day that use up the life in the warranty.

        Args:
            warranty_years: length of the warranty, in years of 365 days.

        Raises:
            WriteampError: it is not a finite number above 0.
        """
        return float(self._drive_writes.mean()) / warranty_days(warranty_years)

    def dwpd_ci95(self, warranty_years: float = WARRANTY_YEARS) -> tuple[float, float]:
        """Return the 95% interval of `dwpd`."""
        low, high = self._interval("drive_writes")
        days = warranty_days(warranty_years)
        return low / days, high / days

    @property
    def causes(self) -> dict[str, float]:
        """Pages programmed from the fill to the end of life by cause, mean over lives."""
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
        """Table of the results for blocks that endure `w` erases, for w ≤ `w_max`.

        Here a life ends when the first block is erased for the w-th time. Spare blocks are only
        used
        at `w_max`, so that only the end of life includes them. Columns: `w`; `pe_fairness` and
        `endurance_full_drive_writes`, each with `_low` and `_high`; and `wa`.
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
        """Number of blocks of all replicas by their erases at the end of life.

        Columns: `erases_from` and `erases_to`, the least and the most erases of a bin (at most 50
        equally wide bins, from 0 to `w_max` or slightly more), and `blocks` in it.
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
        """Return the life of the drive in years of 365 days at a daily amount of host writes.

        Args:
            daily_bytes: bytes that the host writes in a day.
            capacity_bytes: logical capacity of the real drive, if this drive is a smaller model of
                it; both last for as many writes of their logical capacity. By default the requested
                `capacity`, or this drive's own.

        Raises:
            WriteampError: as for `drive_writes_a_day`.
        """
        device = self.plan.device
        capacity_bytes = self.plan.capacity_bytes if capacity_bytes is None else capacity_bytes
        days = self.host_pages / device.logical_pages
        days /= drive_writes_a_day(device, daily_bytes, capacity_bytes)
        return days / DAYS_PER_YEAR

    @property
    def notes(self) -> list[str]:
        """Notes on assumptions, omissions, rounding and interruption."""
        notes = [*self.plan.notes, *(self.store_stats.notes if self.store_stats else [])]
        if self.unfinished:
            notes.append(
                f"interrupted after {self.replicas} of {self.plan.replicas} replicas reached their "
                "end of life; short lives finish first, so that the results may be too low"
            )
        notes += self.scaling.scale.warnings if self.scaling else []
        if self.replicas == 1:
            notes.append("one replica has no confidence interval; increase --replicas")
        elif np.all(self.erases_of_block == self.erases_of_block[0]):
            notes.append(
                "all replicas are equal, because this run has no random draws; one is enough"
            )
        return notes

    @property
    def _drive_writes(self) -> _Floats:
        """Writes of the logical capacity from the fill to the end of each life."""
        return np.asarray(self.end.host_pages / self.plan.device.logical_pages)

    @property
    def measures(self) -> dict[str, _Floats]:
        """Values of each life, for which there is an interval over the lives."""
        names = ("pe_fairness", "endurance_full_drive_writes")
        from_lives = {name: self.lives[name].to_numpy() for name in names}
        return {"wa": self.end.wa, **from_lives, "drive_writes": self._drive_writes}

    def _interval(self, name: str) -> tuple[float, float]:
        """Return the interval of one of the `measures`, including the scaling error."""
        interval = student_interval(self.measures[name])
        if self.scaling is None:
            return interval
        return self.scaling.widened(interval, name)

    def _fairness(self, counts: Counts, w: npt.ArrayLike) -> _Floats:
        return counts.erases / (self.plan.device.geometry.blocks * np.asarray(w, np.float64))

    def _endurance(self, counts: Counts) -> _Floats:
        geometry = self.plan.device.geometry
        # Skipped pages had been freed but were never written.
        freed_pages = (
            geometry.pages_per_block * counts.erases - counts.migrated - counts.skipped_pages
        )
        return np.asarray(freed_pages / geometry.physical_pages)
