"""Device of a timed run in the engine's form, filled and aged without time, and notes on it."""

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
from writeamp.runs.plan import Plan
from writeamp.runs.preconditioning import Ageing, precondition
from writeamp.runs.refusals import check_memory
from writeamp.settings.precondition import Precondition

# Of a page in the write cache, its place in two tables.
_BYTES_OF_A_CACHED_PAGE = 120
# Of a page of an SLC cache, and of a logical page before it, its number in a table of the other.
_BYTES_OF_A_NUMBER = 4
# Without tables of times, every operation takes none.
_NO_TIMES = "{}"


@dataclass(frozen=True)
class Ready:
    """A device that is ready to run.

    `ageing` says how it was aged, `mapped_pages` how many logical pages hold data after that; 0 of
    what is no flash.
    """

    engine: TimedDevice
    ageing: Ageing | None
    mapped_pages: int


def ready(plan: Plan, device: Device, *, pins: bool, tick: Callable[[], None]) -> Ready:
    """Build a device, fill it and age it; none of that takes time.

    Args:
        plan: what to run on it.
        device: what to build.
        pins: whether the edges of its Ready/Busy pins are recorded.
        tick: called from time to time.

    Raises:
        WriteampError: the device cannot be built or prepared so, needs more memory than there is,
            or is an array under a manager that needs hints.
    """
    if device.kind == "flash":
        check_memory("the drive needs", bytes_needed(device))
        return _flash(plan, device, plan.seed, pins=pins, tick=tick)
    _refuse_ageing(plan, device)
    if device.kind == "disk":
        return Ready(TimedDevice.disk(device.times_json), None, 0)
    flash = [one for one in device.members if one.kind == "flash"]
    if flash:
        refuse_hints(plan.policy.manager, "an array does not give its members")
    check_memory("the array needs", sum(map(bytes_needed, flash)))
    members = [
        _member(plan, one, plan.seed + index, pins=pins, tick=tick)
        for index, one in enumerate(device.members)
    ]
    engine = TimedDevice.raid0(
        [(one.engine, shape.dies) for one, shape in zip(members, device.members, strict=True)],
        device.stripe_bytes,
    )
    return Ready(engine, None, sum(one.mapped_pages for one in members))


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
    """Return a flash drive, filled and aged as the plan says, that `in_time` takes."""
    host_pages = device.logical_pages
    simulation = new_flash(plan, device, seed)
    ageing = precondition(simulation, plan, device, tick)
    if Precondition.of(plan.host.precondition).fill != "none":
        simulation.fill(host_pages, _all_pages(device))
    return simulation, ageing


def new_flash(plan: Plan, device: Device, seed: int) -> EngineSimulation:
    """Return a new flash drive whose operations are recorded, to be given a time.

    Raises:
        WriteampError: it cannot be built.
    """
    simulation = _under(EngineLoad.spec("uniform", device.logical_pages), plan, device, seed)
    if simulation.hints() != "groups" or not isinstance(plan.load, Spec):
        return simulation
    # The fill must tell the groups of the load that is to come.
    own = EngineLoad.spec(plan.load.text, plan.used_pages(device), device.page_bytes)
    return _under(own, plan, device, seed)


def _under(load: EngineLoad, plan: Plan, device: Device, seed: int) -> EngineSimulation:
    """Return a new drive that the host of `load` is to fill."""
    return EngineSimulation(
        plan.policy.drive(
            device,
            logical_pages=_all_pages(device),
            table_pages=pages_apart(_times(device), device.logical_pages, device.page_bytes),
            observed=True,
        ),
        load,
        seed=seed,
        batch_pages=plan.run.batch_pages,
    )


def in_time(
    simulation: EngineSimulation, device: Device, seed: int, *, pins: bool = False
) -> TimedDevice:
    """Take over a flash drive as it stands, from time 0 on."""
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
    """Return the logical pages of the flash: those that the host sees, and a table's."""
    return pages_with_table(_times(device), device.logical_pages, device.page_bytes)


def bytes_needed(device: Device) -> int:
    """Return the memory that a flash drive in time takes."""
    pages = _all_pages(device)
    cache_bytes = int((device.times or {}).get("write_cache", {}).get("bytes", 0))
    cached_pages = min(cache_bytes // device.page_bytes, pages)
    slc = slc_pages(device)
    # An SLC cache keeps numbers of its own pages, and of those of the drive before it.
    numbers = slc + device.logical_pages if slc else 0
    cached_bytes = _BYTES_OF_A_CACHED_PAGE * cached_pages + _BYTES_OF_A_NUMBER * numbers
    return device.geometry.bytes_needed(pages) + cached_bytes


def slc_pages(device: Device) -> int:
    """Return the pages that an SLC cache holds at most; 0 without one."""
    table = (device.times or {}).get("slc", {})
    own, share = int(table.get("static_bytes", 0)), float(table.get("dynamic_share", 0))
    lent = share * device.logical_pages / table.get("bits_per_cell", 3)
    return int(own // device.page_bytes + lent)


def _refuse_ageing(plan: Plan, device: Device) -> None:
    asked = Precondition.of(plan.host.precondition)
    by_trace = not isinstance(plan.load, Spec) and asked.fill == "workload"
    if asked.ages or by_trace:
        raise WriteampError(
            f"precondition {asked.text} is for one flash drive; {device.name} is a {device.kind}, "
            "for which it must be full or none"
        )


# What is done on one die at a time, by layout.
_ON_ONE_DIE = {"flat": "writes and collects", "striped": "collects"}


def notes_on_layout(device: Device) -> tuple[str, ...]:
    """Return a note on each layout that leaves most dies idle.

    Args:
        device: a flash drive, or an array of devices; others have no dies.
    """
    flash = [one for one in (device, *device.members) if one.kind == "flash"]
    idle = [one for one in flash if one.geometry.luns > 1 and one.layout in _ON_ONE_DIE]
    return tuple(dict.fromkeys(map(_on_one_die, idle)))


def _on_one_die(device: Device) -> str:
    return (
        f"layout {device.layout} {_ON_ONE_DIE[device.layout]} on one die at a time, so that "
        f"throughput hardly grows with the {device.dies} dies of {device.name}; layout "
        "striped-per-lun uses all"
    )


def notes_on_table(causes: Mapping[str, int], host_pages: int) -> list[str]:
    """Return a note on the mapping table, if pages of it were programmed.

    Args:
        causes: pages programmed, by cause.
        host_pages: pages that the host wrote meanwhile.
    """
    if not causes["mapping"] or not host_pages:
        return []
    return [
        f"the mapping table does not fit in memory: {causes['mapping'] / host_pages:.2f} of WA are "
        "pages of it, which are collected too; an untimed run leaves the table out"
    ]
