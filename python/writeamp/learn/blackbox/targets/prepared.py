"""Saved state of a preconditioned device, from which any number of copies can be made."""

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

# A run may end after it has programmed this multiple of the pages in caches and free blocks.
_FILLINGS = 2


@dataclass(frozen=True)
class _PreparedDrive:
    """A flash drive of the device with its saved state, or a disk, which has no saved state."""

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
    """A device with flash drives that were filled, aged by random writes, and then left idle.

    As in SNIA's Solid State Storage Performance Test Specification, drives are written once in
    order, and then at random until five rounds of one drive write have the same WA. Finally their
    background garbage collection runs until it stops. If a device is partly full, its first pages
    hold data, and only these were ever written.

    Attributes:
        device: the device.
        used_pages: number of its logical pages that hold data.
        parts: members of an array, or the single drive.
    """

    device: Device
    used_pages: int
    parts: tuple[_PreparedDrive, ...]

    @staticmethod
    def of(device: Device, seed: int, fill: float = 1.0) -> PreparedDevice:
        """Precondition a device; member i of an array uses the seed `seed` + i.

        Args:
            device: the device.
            seed: seed of the random writes.
            fill: share of its logical pages that hold data, above 0 and at most 1.

        Raises:
            WriteampError: the device cannot be built, or this machine has too little memory.
        """
        used_pages = max(1, round(fill * device.logical_pages))
        members = device.members or (device,)
        parts = tuple(
            _prepared_drive(member, seed + index, _utilization(device, member, used_pages))
            for index, member in enumerate(members)
        )
        return PreparedDevice(device, used_pages, parts)

    @property
    def filling_pages(self) -> int:
        """Flash pages after which a written drive has slowed down to its long-run speed.

        Twice the pages that write caches, SLC caches and free blocks hold.
        """
        return sum(drive.filling_pages for drive in self.parts)

    @property
    def cached_bytes(self) -> int:
        """Bytes that the write caches of disks hold."""
        return sum(drive.cached_bytes for drive in self.parts)

    @property
    def erase_unit_pages(self) -> int:
        """Pages per erase unit; 0 for disks, and for arrays with different erase units."""
        drives = [drive.device for drive in self.parts if drive.state is not None]
        sizes = {flash.pages_per_erase_unit for flash in drives}
        return sizes.pop() if len(sizes) == 1 else 0

    @property
    def warnings(self) -> list[str]:
        """Reasons why drives are not steady; empty if all are."""
        return [sentence for drive in self.parts for sentence in drive.warnings]

    def new(self) -> TimedDevice:
        """Return an independent device in the saved state."""
        if not self.device.members:
            return self.parts[0].new()
        members = [(drive.new(), drive.device.dies) for drive in self.parts]
        return TimedDevice.raid0(members, self.device.stripe_bytes)


def _utilization(device: Device, member: Device, used_pages: int) -> float:
    """Return which share of a member is covered by the first pages of a device.

    In an array, the covered part of a member is whole stripes.
    """
    if used_pages == device.logical_pages:
        return 1.0
    if not device.members:
        return used_pages / member.logical_pages
    stripes = -(-used_pages * device.page_bytes // device.stripe_bytes)
    of_part = -(-stripes // len(device.members))
    return min(1.0, of_part * device.stripe_bytes / member.capacity_bytes)


def _prepared_drive(device: Device, seed: int, utilization: float) -> _PreparedDrive:
    plan = Plan(
        load=Spec.of("workloads", "uniform"),
        load_name="uniform",
        host=LoadSettings(precondition="random", utilization=utilization),
        policy=Policy("single", None, None),
        run=SimulationSettings(seed=seed),
    )
    if device.kind == "disk":
        return _PreparedDrive(device, plan, cached_bytes=_cached_bytes(device))
    check_memory("the drive needs", bytes_needed(device))
    simulation, ageing = aged(plan, device, seed, stop_if_asked)
    simulation.rest(device.times_json or "{}")
    filling_pages = _FILLINGS * _absorbed_pages(device)
    warnings = tuple(ageing.warnings) if ageing else ()
    return _PreparedDrive(device, plan, simulation.save(), filling_pages, warnings=warnings)


def _cached_bytes(device: Device) -> int:
    """Return the bytes of a disk's write cache: half of its buffer, as in the engine."""
    disk = (device.times or {}).get("disk", {})
    return int(disk.get("cache_bytes", 0)) // 2 if disk.get("write_back") else 0


def _absorbed_pages(device: Device) -> int:
    """Return the number of pages that caches and free blocks of an idle drive hold."""
    tables = device.times or {}
    cached_pages = int(tables.get("write_cache", {}).get("bytes", 0)) // device.page_bytes
    soft_blocks = int(tables.get("collection", {}).get("soft_blocks", 0))
    free_pages = soft_blocks * device.dies * device.pages_per_erase_unit
    # A drive with little spare space cannot keep as many free blocks as its profile sets.
    spare_pages = device.physical_pages - device.logical_pages
    return cached_pages + slc_pages(device) + min(free_pages, spare_pages // 4)
