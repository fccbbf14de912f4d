"""Saved state of a preconditioned device, from which any number can be made anew."""

from __future__ import annotations

from dataclasses import dataclass

from writeamp._engine import TimedDevice
from writeamp.devices.device import Device
from writeamp.devices.policy import Policy
from writeamp.registry.specs import Spec
from writeamp.runners import stop_if_asked
from writeamp.runs.plan import Plan
from writeamp.runs.refusals import check_memory
from writeamp.runs.timed.device import aged, bytes_needed, in_time, new_flash, slc_pages
from writeamp.settings.settings import LoadSettings, SimulationSettings

# How often what the caches and the free blocks hold is programmed before a run may end.
_FILLINGS = 2


@dataclass(frozen=True)
class _Part:
    """A flash drive of the device with its saved state, or a disk, which has none."""

    device: Device
    plan: Plan
    state: bytes | None = None
    filling_pages: int = 0
    cached_bytes: int = 0
    warnings: tuple[str, ...] = ()

    def new(self) -> TimedDevice:
        if self.state is None:
            return TimedDevice.disk(self.device.times_json)
        simulation = new_flash(self.plan, self.device, self.plan.seed)
        simulation.restore(self.state)
        return in_time(simulation, self.device, self.plan.seed)


@dataclass(frozen=True)
class PreparedDevice:
    """A device whose flash drives were filled, aged by random writes, and then left alone.

    After SNIA's Solid State Storage Performance Test Specification, they are written once in order,
    and then at random until five rounds of one drive write have the same WA. At last they collect
    in the background what they would if nobody asked for anything. Of a device that is partly full,
    the pages from the first on hold data, and only these were ever written.

    Attributes:
        device: what it is.
        used_pages: its logical pages that hold data.
        parts: its members, or itself.
    """

    device: Device
    used_pages: int
    parts: tuple[_Part, ...]

    @staticmethod
    def of(device: Device, seed: int, fill: float = 1.0) -> PreparedDevice:
        """Precondition a device; member i of an array has seed + i.

        Args:
            device: what it is.
            seed: decides the random writes.
            fill: share of its logical pages that hold data, above 0 and at most 1.

        Raises:
            WriteampError: it cannot be built, or this machine has no memory for it.
        """
        used_pages = max(1, round(fill * device.logical_pages))
        members = device.members or (device,)
        parts = tuple(
            _part(one, seed + index, _utilization(device, one, used_pages))
            for index, one in enumerate(members)
        )
        return PreparedDevice(device, used_pages, parts)

    @property
    def filling_pages(self) -> int:
        """Flash pages after which a drive that is written to is no faster than it can be for long.

        Twice as many as the write caches, SLC caches and the free blocks hold.
        """
        return sum(part.filling_pages for part in self.parts)

    @property
    def cached_bytes(self) -> int:
        """Bytes that the write caches of disks hold."""
        return sum(part.cached_bytes for part in self.parts)

    @property
    def erase_unit_pages(self) -> int:
        """Pages of an erase unit; 0 of disks, and of drives whose units differ."""
        drives = [part.device for part in self.parts if part.state is not None]
        sizes = {one.pages_per_erase_unit for one in drives}
        return sizes.pop() if len(sizes) == 1 else 0

    @property
    def warnings(self) -> list[str]:
        """Reason for which a drive is not steady, if one is not."""
        return [sentence for part in self.parts for sentence in part.warnings]

    def new(self) -> TimedDevice:
        """Return such a device, which shares nothing with any other."""
        if not self.device.members:
            return self.parts[0].new()
        members = [(part.new(), part.device.dies) for part in self.parts]
        return TimedDevice.raid0(members, self.device.stripe_bytes)


def _utilization(device: Device, part: Device, used_pages: int) -> float:
    """Return the share of a part that the first pages of a device lie on, in whole stripes."""
    if used_pages == device.logical_pages:
        return 1.0
    if not device.members:
        return used_pages / part.logical_pages
    stripes = -(-used_pages * device.page_bytes // device.stripe_bytes)
    of_part = -(-stripes // len(device.members))
    return min(1.0, of_part * device.stripe_bytes / part.capacity_bytes)


def _part(device: Device, seed: int, utilization: float) -> _Part:
    plan = Plan(
        load=Spec.of("workloads", "uniform"),
        load_name="uniform",
        host=LoadSettings(precondition="random", utilization=utilization),
        policy=Policy("single", None, None),
        run=SimulationSettings(seed=seed),
    )
    if device.kind == "disk":
        return _Part(device, plan, cached_bytes=_cached_bytes(device))
    check_memory("the drive needs", bytes_needed(device))
    simulation, ageing = aged(plan, device, seed, stop_if_asked)
    simulation.rest(device.times_json or "{}")
    filling_pages = _FILLINGS * _absorbed_pages(device)
    warnings = tuple(ageing.warnings) if ageing else ()
    return _Part(device, plan, simulation.save(), filling_pages, warnings=warnings)


def _cached_bytes(device: Device) -> int:
    """Return the bytes of a disk's write cache: half of its buffer, as the engine has it."""
    disk = (device.times or {}).get("disk", {})
    return int(disk.get("cache_bytes", 0)) // 2 if disk.get("write_back") else 0


def _absorbed_pages(device: Device) -> int:
    """Return how many pages the caches and the free blocks of a rested drive hold."""
    tables = device.times or {}
    cached_pages = int(tables.get("write_cache", {}).get("bytes", 0)) // device.page_bytes
    soft_blocks = int(tables.get("collection", {}).get("soft_blocks", 0))
    free_pages = soft_blocks * device.dies * device.pages_per_erase_unit
    # Drives with little spare space keep fewer blocks free than their profile says.
    spare_pages = device.physical_pages - device.logical_pages
    return cached_pages + slc_pages(device) + min(free_pages, spare_pages // 4)
