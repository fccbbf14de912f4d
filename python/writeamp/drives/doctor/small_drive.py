"""Small drive on which the doctor simulates the effect of a mistake on write amplification."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import polars as pl

from writeamp.devices.device import Device, device
from writeamp.drives.doctor.after_sprandom import State, wa_after_sprandom
from writeamp.drives.doctor.finding import WaEstimate
from writeamp.errors import WriteampError
from writeamp.fio.zipf import FioSkew, SkewKind
from writeamp.results.numbers import json_number
from writeamp.runs.simulation_result import Result
from writeamp.settings.experiment import Experiment
from writeamp.studies.simulation import simulate_untimed

# Size of the default drive, whose WA is within 1% of the WA of a large drive.
_OP, _BLOCKS, _PAGES_PER_BLOCK = 0.15, 256, 64
_SIZE_OF_PROFILES = "256MiB"
# Writes per run, in multiples of the drive's logical pages. The first third is warm-up. The error
# of WA is at least ±0.5%.
_DRIVE_WRITES = 30
_FEWEST_PAGES = 1024
_SEED = 1


class SmallDrive:
    """Drive with one stream and greedy garbage collection, unless its profile differs."""

    def __init__(self, device: Device) -> None:
        """Use a device as the simulated drive; its timing is ignored.

        Raises:
            WriteampError: the device is not a flash drive, or too small for meaningful results.
        """
        if device.kind == "flash" and device.logical_pages < _FEWEST_PAGES:
            raise WriteampError(
                f"the simulated drive has {device.logical_pages:,} logical pages. At least "
                f"{_FEWEST_PAGES:,} are needed"
            )
        self.device = replace(device, is_timed_by_default=False)
        self._shape = device.geometry
        self._pages = device.logical_pages
        self._random = np.random.default_rng(_SEED)
        self.estimate = cache(self._estimate)

    @classmethod
    def of(cls, profile: Any = None, op: Any = None, size: Any = None) -> SmallDrive:
        """Return the drive of these settings; default: 256 logical blocks of 64 pages, op 0.15."""
        if profile is not None:
            return cls(device(profile, size=size or _SIZE_OF_PROFILES, op=op))
        sizes = {"size": size} if size is not None else {"logical_blocks": _BLOCKS}
        return cls(device(op=_OP if op is None else op, pages_per_block=_PAGES_PER_BLOCK, **sizes))

    @property
    def has_simulated(self) -> bool:
        """Whether a write amplification was simulated."""
        return self.estimate.cache_info().currsize > 0

    def in_words(self) -> str:
        """Return the drive in words."""
        return (
            f"{self.device.name}: {self.device.physical_pages:,} pages of "
            f"{self.device.page_bytes:,} bytes in blocks of {self._shape.pages_per_block}, "
            f"op {self.device.op:.4g}, greedy collection"
        )

    def _estimate(self, method: str, *arguments: Any) -> WaEstimate:
        """Return the write amplification from the simulation by a named method."""
        estimate: WaEstimate = getattr(self, method)(*arguments)
        return estimate

    def uniform(self, used_share: float = 1.0) -> WaEstimate:
        """Return the steady-state WA of independent uniform writes to a share of the drive."""
        writes = _DRIVE_WRITES * self._pages
        return self._run(
            workload="uniform", writes=writes, warmup=writes // 3, utilization=used_share
        )

    def first_writes(self, drive_writes: float, precondition: str = "full") -> WaEstimate:
        """Return the WA of the first uniform writes to a "full" or an empty ("none") drive."""
        writes = max(1, round(drive_writes * self._pages))
        return self._run(workload="uniform", writes=writes, warmup=0, precondition=precondition)

    def same_order(self) -> WaEstimate:
        """Return the WA of one random order of all pages, repeated."""
        return self._played(np.tile(self._random.permutation(self._pages), _DRIVE_WRITES))

    def other_order(self) -> WaEstimate:
        """Return the WA of a new random order of all pages in each pass."""
        orders = [self._random.permutation(self._pages) for _ in range(_DRIVE_WRITES)]
        return self._played(np.concatenate(orders))

    def skewed(
        self, kind: SkewKind, parameter: float, blocks: int, as_fio: bool, precondition: str
    ) -> WaEstimate:
        """Return the WA of skewed writes.

        Args:
            kind: zipf or pareto.
            parameter: theta of zipf, h of pareto.
            blocks: blocks of the span that this drive represents.
            as_fio: whether blocks are drawn as in fio; otherwise each rank has its own page.
            precondition: state of the drive before the writes, "full" or "none" (empty).
        """
        weights = FioSkew(kind, parameter, blocks).page_weights(
            self._pages, self._random, as_fio=as_fio
        )
        drawn = self._random.choice(self._pages, _DRIVE_WRITES * self._pages, p=weights)
        return self._played(drawn, precondition=precondition)

    def of_requests(self, bytes_of_each: int, offset: int) -> WaEstimate:
        """Return the WA of uniform requests of one size, offset from multiples of that size.

        The result is flash bytes / host bytes, as shown by the counters of a drive.
        """
        page_bytes = self.device.page_bytes
        places = (self._pages * page_bytes - offset) // bytes_of_each
        # A request that covers pages partially covers one more page.
        count = _DRIVE_WRITES * self._pages // max(1, bytes_of_each // page_bytes)
        offsets = self._random.integers(0, places, count) * bytes_of_each + offset
        requests = pl.DataFrame({"offset": offsets, "length": bytes_of_each, "op": "write"})
        return self._played(requests, in_bytes=True)

    def after_sprandom(
        self, op: float, regions: int, spr_cs: int, cache_share: float, state: State
    ) -> WaEstimate:
        """Return the WA of random writes after sprandom; see `wa_after_sprandom`."""
        return wa_after_sprandom(
            self.device, op, regions, spr_cs=spr_cs, cache_share=cache_share, state=state
        )

    def _played(
        self, data: Any, *, in_bytes: bool = False, precondition: str = "full"
    ) -> WaEstimate:
        """Return the WA of writes in order; the first third is warm-up."""
        result = self._simulated(
            trace=data,
            mapping="as-is",
            repeat=1,
            spread=False,
            precondition=precondition,
            warmup=_DRIVE_WRITES // 3 * self._pages,
        )
        per_page = _estimate_of(result)
        factor = result.partial_page_factor if in_bytes else 1.0
        return WaEstimate(*(bound * factor for bound in per_page))

    def _run(self, **settings: Any) -> WaEstimate:
        return _estimate_of(self._simulated(replicas=1, **settings))

    def _simulated(self, **settings: Any) -> Result:
        return simulate_untimed(
            Experiment.of("simulate", device=self.device, seed=_SEED, **settings)
        )


def _estimate_of(result: Result) -> WaEstimate:
    low, high = (json_number(bound) for bound in result.ci)
    # If a run is too short for a confidence interval, both bounds are its WA.
    return WaEstimate(
        result.wa, result.wa if low is None else low, result.wa if high is None else high
    )
