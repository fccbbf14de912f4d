"""Statistics of drives' lives: fairness of wear, endurance and WA (paper 4)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from writeamp.registry.specs import Spec
from writeamp.runs.capacity_error import LifeScalingErrors
from writeamp.runs.daily_writes import (
    WARRANTY_YEARS,
    drive_writes_a_day,
    warranty_days,
)
from writeamp.runs.lifetime_plan import Counts, Lifetime
from writeamp.runs.seeds import replica_seed
from writeamp.statistics.replicas import student_interval, student_intervals
from writeamp.studies.study import StoreStats
from writeamp.text import Caution
from writeamp.units.durations import DAYS_A_YEAR

_Floats: TypeAlias = npt.NDArray[np.float64]

JESD219 = "jesd219"
_TERABYTE = 10**12

# Number of bars of the erase histogram: enough for its shape, few enough for a table.
_MOST_BINS = 50


@dataclass(frozen=True, repr=False, eq=False)
class LifeStatistics:
    """Lives of drives with different seeds, and the means over them.

    In formulas, N is the number of blocks of the drive, including spare ones, and b the number of
    pages per block. Intervals are 95% Student's t intervals over the replicas; NaN for one replica.
    """

    plan: Lifetime
    end: Counts
    """Counters at the end of each life, shape (replicas,)."""
    reached: Counts
    """Counters when a block was first erased for the w-th time, shape (replicas, w_max)."""
    erases_of_block: npt.NDArray[np.uint64]
    """Erases of each block at the end of each life, shape (replicas, blocks)."""
    seeds: npt.NDArray[np.uint64]
    """Seed of each finished life, shape (replicas,); fewer than planned if interrupted."""
    elapsed_s: float = field(compare=False)
    partial_page_factor: float = 1.0
    """Bytes of the pages that the host wrote / bytes that it wrote, of all lives; NaN if unknown.

    Then bytes are those of whole pages.
    """
    partial_share: float = 0.0
    """Share of the host's pages that its requests covered only in part."""
    scaling: LifeScalingErrors | None = None
    """Scale and errors of the smaller drive that was simulated for a capacity, or None."""
    rated: LifeStatistics | None = None
    """Lives under JESD219, if they were run."""
    why_unrated: str = ""
    """Reason why the drive cannot run JESD219, or ""."""
    store_stats: StoreStats | None = field(default=None, compare=False)
    """Counts of the lives stored in a folder, or None without a folder."""

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
    def under_jesd219(self) -> LifeStatistics | None:
        """Lives under JESD219, the workload of ratings; these lives, if it is their workload."""
        load = self.plan.load
        return self if isinstance(load, Spec) and load.name == JESD219 else self.rated

    @property
    def pe_fairness(self) -> float:
        """Mean erases of a block at the end of life, divided by `w_max`.

        It is E[Y]/(W_max·N) of paper 4, §5, where Y is the number of all erases.
        """
        return float(self.lives["pe_fairness"].to_numpy().mean())

    @property
    def pe_fairness_ci95(self) -> tuple[float, float]:
        """The 95% interval of `pe_fairness`."""
        low, high = self._interval("pe_fairness")
        # Fairness is at most 1, so the upper end is cut there. min() would lose a NaN.
        return low, 1.0 if high > 1 else high

    @property
    def endurance_full_drive_writes(self) -> float:
        """Host writes until the end of life, in writes of the physical capacity (paper 4, §6).

        They are counted by the pages that collection frees: E[Σ(b−j)]/(b·N), where j is the number
        of valid pages of each victim. Pages written in part count with this part.
        """
        return float(self.lives["endurance_full_drive_writes"].to_numpy().mean())

    @property
    def endurance_ci95(self) -> tuple[float, float]:
        """The 95% interval of `endurance_full_drive_writes`."""
        return self._interval("endurance_full_drive_writes")

    @property
    def endurance_logical_drive_writes(self) -> float:
        """Endurance in writes of the logical capacity; vendors state `tbw` instead."""
        device = self.plan.device
        return self.endurance_full_drive_writes * device.physical_pages / device.logical_pages

    @property
    def wa(self) -> float:
        """Flash pages programmed per host page, from fill to end of life; mean over lives."""
        return float(self.end.wa.mean())

    @property
    def _factor(self) -> float:
        return 1.0 if math.isnan(self.partial_page_factor) else self.partial_page_factor

    @property
    def wa_bytes(self) -> float:
        """Flash bytes programmed per byte that the host wrote, as in SMART; NaN if unknown."""
        return self.wa * self.partial_page_factor

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
        return self.host_pages * self.plan.device.page_bytes / self._factor

    @property
    def capacity_bytes(self) -> float:
        """Logical capacity of the requested drive, in bytes."""
        stated = self.plan.capacity_bytes
        return self.plan.device.capacity_bytes if stated is None else stated

    @property
    def tbw(self) -> float:
        """Terabytes (10^12 bytes) that the host writes to the requested drive in its life.

        It is the number of writes of the logical capacity, from the fill to the end of life, times
        that capacity.
        """
        return float(self._drive_writes.mean()) * self.capacity_bytes / _TERABYTE

    @property
    def tbw_ci95(self) -> tuple[float, float]:
        """The 95% interval of `tbw`."""
        low, high = self._interval("drive_writes")
        terabytes = self.capacity_bytes / _TERABYTE
        return low * terabytes, high * terabytes

    def dwpd(self, warranty_years: float = WARRANTY_YEARS) -> float:
        """Return the drive writes per day (DWPD) that use up the life within the warranty.

        Args:
            warranty_years: length of the warranty, in years of 365 days.

        Raises:
            WriteampError: `warranty_years` is not a finite number above 0.
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
        host = float(self.end.host_programs.mean())
        if not self.plan.device.host_page_bytes:
            return {"host": host} | migrated
        partial = host * self.partial_share
        return {"host": host - partial} | migrated | {"read_modify_write": partial}

    @cached_property
    def lives(self) -> pl.DataFrame:
        """Table with one row for each replica.

        Columns: `seed`, `erases` (of all blocks), `host_pages` (written after the fill),
        `pe_fairness`, `endurance_full_drive_writes`, and `wa`. All are counted at the end of life.
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
        """Table of fairness, endurance and WA if blocks endured `w` erases, for each w ≤ `w_max`.

        In row w, the life ends when the first block is erased for the w-th time. Only the end of
        life at `w_max` includes the use of spare blocks. Columns: `w`; `pe_fairness` and
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
        """Histogram over all replicas: number of blocks by their erases at the end of life.

        Columns: `erases_from` and `erases_to`, the least and the most erases in a bin, and
        `blocks`, the number of blocks in the bin. At most 50 equally wide bins cover 0 to `w_max`
        or slightly more.
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
        """Return the life of the drive in years of 365 days, at a daily volume of host writes.

        Args:
            daily_bytes: bytes that the host writes in a day.
            capacity_bytes: logical capacity of the real drive, if the simulated drive is smaller.
                Both endure the same number of writes of their logical capacity. By default the
                requested `capacity`, or the capacity of the simulated drive.

        Raises:
            WriteampError: as for `drive_writes_a_day`.
        """
        device = self.plan.device
        capacity_bytes = self.plan.capacity_bytes if capacity_bytes is None else capacity_bytes
        days = self.host_bytes / device.capacity_bytes
        days /= drive_writes_a_day(device, daily_bytes, capacity_bytes)
        return days / DAYS_A_YEAR

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
        if math.isnan(self.partial_page_factor):
            notes.append(
                Caution(
                    "the trace does not state how many bytes of its pages it writes, so TBW and "
                    "years count whole pages"
                )
            )
        if self.why_unrated:
            notes.append(f"life under JESD219 is unknown: {self.why_unrated}")
        if self.replicas == 1:
            notes.append("one replica has no confidence interval; increase --replicas")
        elif self.are_equal:
            notes.append(
                "all replicas are equal, because this run has no random draws; one replica is "
                "enough"
            )
        return notes

    @property
    def are_equal(self) -> bool:
        """True if all lives are the same, as of a run without random draws."""
        return bool(np.all(self.erases_of_block == self.erases_of_block[0]))

    @property
    def _drive_writes(self) -> _Floats:
        """Writes of the logical capacity from the fill to the end, for each life."""
        pages = self.plan.device.logical_pages * self._factor
        return np.asarray(self.end.host_pages / pages)

    @property
    def measures(self) -> dict[str, _Floats]:
        """Values of each life, by name; each has a confidence interval over lives."""
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
        # Collection freed the skipped pages, but they were never written, so they do not count.
        freed_pages = (
            geometry.pages_per_block * counts.erases - counts.migrated - counts.skipped_pages
        )
        pages = geometry.physical_pages * self._factor
        return np.asarray(freed_pages / pages)
