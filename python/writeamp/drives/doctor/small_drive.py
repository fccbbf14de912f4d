"""Small drive on which the doctor simulates what a mistake does to write amplification."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import polars as pl

from writeamp.devices.device import Device, device
from writeamp.drives.doctor.finding import WaEstimate
from writeamp.drives.doctor.fio.zipf import FioSkew, Kind
from writeamp.errors import WriteampError
from writeamp.results.numbers import json_number
from writeamp.runs.simulation_result import Result
from writeamp.settings.experiment import Experiment
from writeamp.studies.simulation import simulate_untimed

# Of the drive unless another is asked for, on which WA is within 1% of that of a large one.
_OP, _BLOCKS, _PAGES_PER_BLOCK = 0.15, 256, 64
_SIZE_OF_PROFILES = "256MiB"
# Drive writes of a run, of which the first third is warm-up: no number is closer than ±0.5%.
_DRIVE_WRITES = 30
_FEWEST_PAGES = 1024
_SEED = 1


class SmallDrive:
    """A drive of one stream under greedy collection, unless its profile says otherwise."""

    def __init__(self, made: Device) -> None:
        """Take the drive, whose times play no part.

        Raises:
            WriteampError: it is no flash drive, or so small that its numbers say nothing.
        """
        if made.kind == "flash" and made.logical_pages < _FEWEST_PAGES:
            raise WriteampError(
                f"the drive that is simulated shows its host {made.logical_pages:,} pages; "
                f"{_FEWEST_PAGES:,} are needed"
            )
        self.device = replace(made, is_timed_by_default=False)
        self._shape = made.geometry
        self._pages = made.logical_pages
        self._random = np.random.default_rng(_SEED)
        self.estimate = cache(self._estimate)

    @classmethod
    def of(cls, profile: Any = None, op: Any = None, size: Any = None) -> SmallDrive:
        """Return the drive that is asked for; by default 256 blocks of 64 pages, op 0.15."""
        if profile is not None:
            return cls(device(profile, size=size or _SIZE_OF_PROFILES, op=op))
        sizes = {"size": size} if size is not None else {"logical_blocks": _BLOCKS}
        return cls(device(op=_OP if op is None else op, pages_per_block=_PAGES_PER_BLOCK, **sizes))

    @property
    def has_simulated(self) -> bool:
        """True if a write amplification was asked of it."""
        return self.estimate.cache_info().currsize > 0

    def in_words(self) -> str:
        """Return the drive in words."""
        return (
            f"{self.device.name}: {self.device.physical_pages:,} pages of "
            f"{self.device.page_bytes:,} bytes in blocks of {self._shape.pages_per_block}, "
            f"op {self.device.op:.4g}, greedy collection"
        )

    def _estimate(self, what: str, *arguments: Any) -> WaEstimate:
        """Return the write amplification of what a method here simulates."""
        found: WaEstimate = getattr(self, what)(*arguments)
        return found

    def uniform(self, used_share: float = 1.0) -> WaEstimate:
        """Return that of independent uniform writes to a share of the drive, when it is steady."""
        writes = _DRIVE_WRITES * self._pages
        return self._run(
            workload="uniform", writes=writes, warmup=writes // 3, utilization=used_share
        )

    def first_writes(self, drive_writes: float, precondition: str = "full") -> WaEstimate:
        """Return that of the first uniform writes after a fill, or to an empty drive."""
        writes = max(1, round(drive_writes * self._pages))
        return self._run(workload="uniform", writes=writes, warmup=0, precondition=precondition)

    def same_order(self) -> WaEstimate:
        """Return that of one random order of all pages, again and again."""
        return self._played(np.tile(self._random.permutation(self._pages), _DRIVE_WRITES))

    def other_order(self) -> WaEstimate:
        """Return that of a new random order of all pages in each pass."""
        orders = [self._random.permutation(self._pages) for _ in range(_DRIVE_WRITES)]
        return self._played(np.concatenate(orders))

    def skewed(
        self, kind: Kind, parameter: float, blocks: int, as_fio: bool, precondition: str
    ) -> WaEstimate:
        """Return that of skewed writes.

        Args:
            kind: zipf or pareto.
            parameter: theta of zipf, h of pareto.
            blocks: of the span that stands for this drive.
            as_fio: as fio draws them, or else with a page for each rank.
            precondition: what the drive holds when they begin.
        """
        weights = FioSkew(kind, parameter, blocks).page_weights(
            self._pages, self._random, as_fio=as_fio
        )
        drawn = self._random.choice(self._pages, _DRIVE_WRITES * self._pages, p=weights)
        return self._played(drawn, precondition=precondition)

    def of_requests(self, bytes_of_each: int, offset: int) -> WaEstimate:
        """Return that of uniform requests of so many bytes, each off a multiple of that by some.

        It is flash bytes over host bytes, as the counters of a drive have it.
        """
        page_bytes = self.device.page_bytes
        places = (self._pages * page_bytes - offset) // bytes_of_each
        # A request that covers pages in part covers one more.
        count = _DRIVE_WRITES * self._pages // max(1, bytes_of_each // page_bytes)
        offsets = self._random.integers(0, places, count) * bytes_of_each + offset
        requests = pl.DataFrame({"offset": offsets, "length": bytes_of_each, "op": "write"})
        return self._played(requests, in_bytes=True)

    def _played(
        self, data: Any, *, in_bytes: bool = False, precondition: str = "full"
    ) -> WaEstimate:
        """Return that of writes in order, of which the first third is warm-up."""
        found = self._simulated(
            trace=data,
            mapping="as-is",
            repeat=1,
            spread=False,
            precondition=precondition,
            warmup=_DRIVE_WRITES // 3 * self._pages,
        )
        per_page = _estimate_of(found)
        factor = found.partial_page_factor if in_bytes else 1.0
        return WaEstimate(*(one * factor for one in per_page))

    def _run(self, **how: Any) -> WaEstimate:
        return _estimate_of(self._simulated(replicas=1, **how))

    def _simulated(self, **how: Any) -> Result:
        return simulate_untimed(Experiment.of("simulate", device=self.device, seed=_SEED, **how))


def _estimate_of(found: Result) -> WaEstimate:
    low, high = (json_number(one) for one in found.ci)
    # A run that is too short for an interval is a number all the same.
    return WaEstimate(
        found.wa, found.wa if low is None else low, found.wa if high is None else high
    )
