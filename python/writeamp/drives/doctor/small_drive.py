"""Small drive on which the doctor simulates the effect of a mistake on write amplification."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from writeamp._engine import scaled_workload
from writeamp.devices.device import Device, device
from writeamp.drives.doctor.after_sprandom import State, wa_after_sprandom
from writeamp.drives.doctor.finding import WaEstimate
from writeamp.errors import WriteampError
from writeamp.results.numbers import json_number
from writeamp.runs.simulation_result import Result
from writeamp.settings.experiment import Experiment
from writeamp.studies.simulation import simulate_untimed

# Size of the default drive, whose WA is within 1% of the WA of a large drive.
_OP, _BLOCKS, _PAGES_PER_BLOCK = 0.15, 256, 64
_SIZE_OF_PROFILES = "256MiB"
# Writes per run, in multiples of the drive's logical pages. The first third is warm-up. The error
# of WA is at least ±0.5%.
_DRIVE_WRITES = 90
_FEWEST_PAGES = 1024
_SEED = 1


class SmallDrive:
    """Drive with one stream and greedy garbage collection, unless its profile differs."""

    def __init__(self, profile: Any = None, op: Any = None, size: Any = None) -> None:
        """Use a drive of these settings; default: 256 logical blocks of 64 pages, op 0.15.

        Raises:
            WriteampError: the device is not a flash drive, or too small for meaningful results.
        """
        self._profile, self._op, self._size = profile, op, size
        self.device = self._drive(None, None)
        self._used: dict[str, None] = {}
        self.estimate = cache(self._estimate)

    def _drive(self, page_bytes: int | None, most_bytes: int | None) -> Device:
        """Return the drive with pages of a size, and of at most a number of bytes."""
        drive = self._made(page_bytes, self._size)
        drive.check_flash()
        if most_bytes is not None and most_bytes < drive.capacity_bytes:
            pages = most_bytes // drive.page_bytes
            if pages < _FEWEST_PAGES:
                raise WriteampError(
                    f"the jobs write only {pages:,} pages; at least {_FEWEST_PAGES:,} are needed"
                )
            drive = self._made(page_bytes, pages * drive.page_bytes)
        if drive.logical_pages < _FEWEST_PAGES:
            raise WriteampError(
                f"the simulated drive has {drive.logical_pages:,} logical pages. At least "
                f"{_FEWEST_PAGES:,} are needed"
            )
        return replace(drive, is_timed_by_default=False)

    def _made(self, page_bytes: int | None, size: Any) -> Device:
        if self._profile is not None:
            return device(self._profile, size=size or _SIZE_OF_PROFILES, op=self._op)
        sizes = {"size": size} if size is not None else {"logical_blocks": _BLOCKS}
        op = _OP if self._op is None else self._op
        return device(op=op, pages_per_block=_PAGES_PER_BLOCK, page_bytes=page_bytes, **sizes)

    @property
    def has_simulated(self) -> bool:
        """Whether a write amplification was simulated."""
        return bool(self._used)

    def in_words(self) -> str:
        """Return the simulated drives in words."""
        return "; ".join(self._used)

    def _estimate(self, method: str, *arguments: Any) -> WaEstimate:
        """Return the write amplification from the simulation by a named method."""
        estimate: WaEstimate = getattr(self, method)(*arguments)
        return estimate

    def refused(self, reason: str) -> WaEstimate:
        """Raise an error with the reason why a load cannot be simulated."""
        raise WriteampError(reason)

    def of_load(
        self,
        workload: str,
        capacity_bytes: int | None = None,
        page_bytes: int | None = None,
        precondition: str = "full",
        drive_writes: float | None = None,
    ) -> WaEstimate:
        """Return the WA of a workload, in flash bytes / host bytes.

        Args:
            workload: spec of the workload on the full drive.
            capacity_bytes: size of the full drive, to which the workload's bytes refer; None if it
                has no bytes.
            page_bytes: size of the pages; None: that of the drive.
            precondition: state of the drive before the writes, "full" or "none" (empty).
            drive_writes: number of drive writes from this state on; None for the steady state.

        Raises:
            WriteampError: the workload cannot be run on this drive.
        """
        drive = self._drive(page_bytes, capacity_bytes)
        if capacity_bytes is not None:
            factor = capacity_bytes / drive.capacity_bytes
            workload = scaled_workload(workload, max(1.0, factor), 1.0)
        writes = max(1, round((drive_writes or _DRIVE_WRITES) * drive.logical_pages))
        estimate = _estimate_of(
            simulate_untimed(
                Experiment.of(
                    "simulate",
                    device=drive,
                    workload=workload,
                    writes=writes,
                    warmup=writes // 3 if drive_writes is None else 0,
                    precondition=precondition,
                    replicas=1,
                    seed=_SEED,
                )
            )
        )
        self._used[_in_words(drive)] = None
        return estimate

    def after_sprandom(
        self, op: float, regions: int, spr_cs: int, cache_share: float, state: State
    ) -> WaEstimate:
        """Return the WA of random writes after sprandom; see `wa_after_sprandom`."""
        drive = device(self.device, op=op, size=self.device.capacity_bytes)
        self._used[_in_words(drive)] = None
        return wa_after_sprandom(
            drive, op, regions, spr_cs=spr_cs, cache_share=cache_share, state=state
        )


def _in_words(drive: Device) -> str:
    return (
        f"{drive.name}: {drive.physical_pages:,} pages of {drive.page_bytes:,} bytes in blocks of "
        f"{drive.geometry.pages_per_block}, op {drive.op:.4g}, greedy collection"
    )


def _estimate_of(result: Result) -> WaEstimate:
    low, high = (json_number(bound) for bound in result.ci)
    factor = result.partial_page_factor
    # If a run is too short for a confidence interval, both bounds are its WA.
    bounds = (result.wa, result.wa if low is None else low, result.wa if high is None else high)
    return WaEstimate(*(bound * factor for bound in bounds))
