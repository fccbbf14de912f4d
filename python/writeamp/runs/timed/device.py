"""Devices of timed runs in the engine's form, filled and aged at time 0, and notes on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from writeamp._engine import Load as EngineLoad
from writeamp._engine import Simulation as EngineSimulation
from writeamp._engine import TimedDevice, pages_apart, pages_with_table
from writeamp.devices.device import Device
from writeamp.errors import WriteampError
from writeamp.registry.declarations import refuse_hints
from writeamp.registry.specs import Spec
from writeamp.runs.loads import engine_load
from writeamp.runs.plan import Plan
from writeamp.runs.preconditioning import Ageing, precondition
from writeamp.runs.refusals import check_memory
from writeamp.settings.precondition import Precondition
from writeamp.units.byte_sizes import shown_bytes

# Smallest share of merged page writes that is worth a note.
_FEWEST_MERGED = 0.1
# Memory in bytes for each page in the write cache, which has entries in two tables.
_BYTES_OF_A_CACHED_PAGE = 120
# Memory in bytes of a number in a table. A drive with an SLC cache has one number for each page of
# the cache, and one for each of its logical pages.
_BYTES_OF_A_NUMBER = 4
# Empty table of operation times, so that operations take no time.
_NO_TIMES = "{}"


@dataclass(frozen=True)
class Ready:
    """Device that is ready to run, with the record of its ageing.

    `mapped_pages` is the number of logical pages that hold data after ageing; 0 for a device
    without flash.
    """

    engine: TimedDevice
    ageing: Ageing | None
    mapped_pages: int


def ready(plan: Plan, device: Device, *, pins: bool, tick: Callable[[], None]) -> Ready:
    """Build a device, fill it and age it; its virtual time stays 0.

    Args:
        plan: plan of the run.
        device: device to build.
        pins: whether edges of its Ready/Busy pins are recorded.
        tick: called from time to time.

    Raises:
        WriteampError: the device cannot be built or preconditioned as requested, needs more memory
            than is available, or is an array under a manager that needs hints.
    """
    for member in (device, *device.members):
        check_unit(member)
    if device.kind == "flash":
        check_memory("the drive needs", bytes_needed(device))
        return _flash(plan, device, plan.seed, pins=pins, tick=tick)
    _refuse_ageing(plan, device)
    if device.kind == "disk":
        return Ready(TimedDevice.disk(device.times_json), None, 0)
    flash = [member for member in device.members if member.kind == "flash"]
    if flash:
        refuse_hints(plan.policy.manager, "an array does not pass to its members")
    check_memory("the array needs", sum(map(bytes_needed, flash)))
    members = [
        _member(plan, member, plan.seed + index, pins=pins, tick=tick)
        for index, member in enumerate(device.members)
    ]
    engine = TimedDevice.raid0(
        [
            (ready_member.engine, shape.dies)
            for ready_member, shape in zip(members, device.members, strict=True)
        ],
        device.stripe_bytes,
    )
    return Ready(engine, None, sum(ready_member.mapped_pages for ready_member in members))


def check_unit(device: Device) -> None:
    """Reject mapping units larger than a flash page, whose times a profile does not have.

    Raises:
        WriteampError: the device has such units.
    """
    if device.pages_per_unit > 1 and not device.states_flash_page:
        raise WriteampError(
            f"mapping_unit is {device.page_bytes} bytes; in a timed run it must be at most a "
            f"flash page of {device.name}, {device.host_page_bytes} bytes, as its times are those "
            "of one flash page"
        )


def _member(
    plan: Plan, device: Device, seed: int, *, pins: bool, tick: Callable[[], None]
) -> Ready:
    if device.kind == "disk":
        return Ready(TimedDevice.disk(device.times_json), None, 0)
    return _flash(plan, device, seed, pins=pins, tick=tick)


def _flash(plan: Plan, device: Device, seed: int, *, pins: bool, tick: Callable[[], None]) -> Ready:
    simulation, ageing = aged(plan, device, seed, tick)
    mapped_pages = simulation.mapped_pages()
    return Ready(in_time(simulation, device, seed, pins=pins), ageing, mapped_pages)


def aged(
    plan: Plan, device: Device, seed: int, tick: Callable[[], None]
) -> tuple[EngineSimulation, Ageing | None]:
    """Return a flash drive, filled and aged as planned, as input of `in_time`."""
    host_pages = device.logical_pages
    simulation = new_flash(plan, device, seed)
    ageing = precondition(simulation, plan, device, tick)
    if Precondition.of(plan.host.precondition).fill != "none":
        simulation.fill(host_pages, _all_pages(device))
    return simulation, ageing


def new_flash(plan: Plan, device: Device, seed: int) -> EngineSimulation:
    """Return a new flash drive whose operations are recorded, to be timed later.

    Raises:
        WriteampError: the drive cannot be built.
    """
    simulation = _under(EngineLoad.spec("uniform", device.logical_pages), plan, device, seed)
    if simulation.hints() != "groups" or not isinstance(plan.load, Spec):
        return simulation
    # The load of the run sends group hints, so the fill must send them, too.
    own = engine_load(plan.load.text, plan.used_pages(device), device)
    return _under(own, plan, device, seed)


def _under(load: EngineLoad, plan: Plan, device: Device, seed: int) -> EngineSimulation:
    """Return a new drive, to be filled by the host of `load`."""
    return EngineSimulation(
        plan.policy.drive(
            device,
            logical_pages=_all_pages(device),
            table_pages=pages_apart(_times(device), device.logical_pages, device.page_bytes),
            observed=True,
            tags=plan.tag_count,
        ),
        load,
        seed=seed,
        batch_pages=plan.run.batch_pages,
    )


def in_time(
    simulation: EngineSimulation, device: Device, seed: int, *, pins: bool = False
) -> TimedDevice:
    """Convert a flash drive in its current state to a timed drive at virtual time 0."""
    return TimedDevice.flash(
        simulation,
        times=_times(device),
        host_pages=device.logical_pages,
        seed=seed,
        ready_busy=pins,
    )


def _times(device: Device) -> str:
    return device.times_json or _NO_TIMES


def _all_pages(device: Device) -> int:
    """Return the number of logical pages of the flash: the host's and the mapping table's."""
    return pages_with_table(_times(device), device.logical_pages, device.page_bytes)


def bytes_needed(device: Device) -> int:
    """Return the memory that a timed flash drive needs, in bytes."""
    pages = _all_pages(device)
    cache_bytes = int((device.times or {}).get("write_cache", {}).get("bytes", 0))
    cached_pages = min(cache_bytes // device.page_bytes, pages)
    slc = slc_pages(device)
    # An SLC cache has a table of its own pages, and another of the drive's logical pages.
    numbers = slc + device.logical_pages if slc else 0
    cached_bytes = _BYTES_OF_A_CACHED_PAGE * cached_pages + _BYTES_OF_A_NUMBER * numbers
    return device.geometry.bytes_needed(pages) + cached_bytes


def slc_pages(device: Device) -> int:
    """Return the maximum number of pages in the drive's SLC cache; 0 for a drive without one."""
    table = (device.times or {}).get("slc", {})
    own, share = int(table.get("static_bytes", 0)), float(table.get("dynamic_share", 0))
    lent = share * device.logical_pages / table.get("bits_per_cell", 3)
    return int(own // device.page_bytes + lent)


def _refuse_ageing(plan: Plan, device: Device) -> None:
    requested = Precondition.of(plan.host.precondition)
    by_trace = not isinstance(plan.load, Spec) and requested.fill == "workload"
    if requested.ages or by_trace:
        raise WriteampError(
            f"precondition {requested.text} needs a single flash drive, but {device.name} is a "
            f"{device.kind}; valid are full and none"
        )


# For each layout: the operations that use only one die at a time.
_ON_ONE_DIE = {"flat": "writes and collects", "striped": "collects"}


def notes_on_layout(device: Device) -> tuple[str, ...]:
    """Return a note for each layout that leaves most dies idle.

    Args:
        device: a flash drive, or an array of devices; other devices have no dies.
    """
    flash = [drive for drive in (device, *device.members) if drive.kind == "flash"]
    idle = [drive for drive in flash if drive.geometry.luns > 1 and drive.layout in _ON_ONE_DIE]
    return tuple(dict.fromkeys(map(_on_one_die, idle)))


def _on_one_die(device: Device) -> str:
    return (
        f"layout {device.layout} {_ON_ONE_DIE[device.layout]} on one die at a time, so that "
        f"throughput hardly grows with the {device.dies} dies of {device.name}; use layout "
        "striped-per-lun to use all dies"
    )


def notes_on_table(causes: Mapping[str, int], host_pages: int) -> list[str]:
    """Return a note if pages of the mapping table were programmed.

    Args:
        causes: pages programmed, by cause.
        host_pages: host pages written in the same interval.
    """
    if not causes["mapping"] or not host_pages:
        return []
    return [
        f"the mapping table does not fit in memory: programs of its pages add "
        f"{causes['mapping'] / host_pages:.2f} to this WA; an untimed run leaves them out"
    ]


def merging_in_words(device: Device, causes: Mapping[str, int], host_pages: int) -> str:
    """Return a clause on the writes that merge in the write cache, or "" if these are few.

    Args:
        device: the drive.
        causes: pages programmed, by cause.
        host_pages: host pages written in the same interval.
    """
    # Host pages that go through an SLC cache are counted as "slc", and those written in part as
    # "read_modify_write".
    programmed = sum(causes[cause] for cause in ("host", "slc", "read_modify_write"))
    merged = 1 - programmed / host_pages if host_pages else 0.0
    cache_bytes = int((device.times or {}).get("write_cache", {}).get("bytes", 0))
    if merged < _FEWEST_MERGED or not cache_bytes:
        return ""
    share = cache_bytes / device.capacity_bytes
    return (
        f"the write cache of {shown_bytes(cache_bytes)} ({share:.0%} of the drive) merges "
        f"{merged:.0%} of the {device.page_noun} writes before they reach the flash"
    )


def notes_on_merging(device: Device, causes: Mapping[str, int], host_pages: int) -> list[str]:
    """Return a note if many writes merge in the write cache, with arguments as above."""
    clause = merging_in_words(device, causes, host_pages)
    if not clause:
        return []
    below = ", even below 1" if sum(causes.values()) < host_pages else ""
    return [f"{clause}, which makes WA lower{below}; a larger --size merges fewer writes"]
