"""Specification of a virtual drive: built from settings, aged, and passed to the plugin."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from writeamp._engine import Load as EngineLoad
from writeamp._engine import Simulation as EngineSimulation
from writeamp._engine import pages_apart, pages_with_table
from writeamp.devices.device import Device
from writeamp.devices.policy import Policy
from writeamp.errors import WriteampError
from writeamp.registry.declarations import refuse_hints
from writeamp.runs.inputs import prepare
from writeamp.runs.plan import Plan
from writeamp.runs.preconditioning import Ageing, precondition
from writeamp.runs.refusals import check_memory
from writeamp.runs.timed.device import check_unit
from writeamp.settings.device import DeviceSettings
from writeamp.settings.experiment import Experiment
from writeamp.settings.learnt import most_probable
from writeamp.settings.precondition import Precondition
from writeamp.settings.settings import LoadSettings, SimulationSettings
from writeamp.system import require_linux
from writeamp.units.byte_sizes import shown_bytes
from writeamp.vssd.settings import BuiltInPolicySettings, DriveSettings


@dataclass(frozen=True)
class Specification:
    """Virtual drive that can be built: its settings, its device, and a plan of its ageing.

    If `in_turn`, the requests of each connection are served one after another, in order.
    """

    device: Device
    plan: Plan
    settings: DriveSettings
    input_files: tuple[str, ...]
    in_turn: bool = False

    @property
    def policy(self) -> Policy:
        """Policy of the drive."""
        return self.plan.policy

    @property
    def counts_handles(self) -> bool:
        """Whether the drive counts by the placement handles of its block manager."""
        return not self.settings.is_timed and self.plan.counts_handles

    @property
    def precondition(self) -> Precondition:
        """Preconditioning of a new drive."""
        return Precondition.of(self.settings.precondition)

    @property
    def is_aged(self) -> bool:
        """Whether a new drive is preconditioned."""
        return self.precondition.ages or self.precondition.fill != "none"


def specify(
    device: DeviceSettings, policy: BuiltInPolicySettings, settings: DriveSettings
) -> Specification:
    """Return the drive of these settings.

    Raises:
        WriteampError: not Linux, no flash drive, its manager needs hints, or it cannot be built.
    """
    require_linux("the virtual SSD")
    device, policy, notes = most_probable(device, policy)
    refuse_hints(str(policy.manager), "programs do not provide")
    load = LoadSettings(precondition=settings.precondition)
    if Precondition.of(load.precondition).fill == "workload":
        raise WriteampError(
            "precondition workload fills the pages that the host will write, but the pages of "
            "a program are unknown. Use full or none"
        )
    run = SimulationSettings(seed=settings.seed)
    experiment = Experiment(device, load, policy, run)
    prepared = prepare(experiment)
    drive = prepared.drive
    if drive.kind != "flash":
        raise WriteampError(
            f"{drive.name} is a {drive.kind}. A virtual drive must be a single flash drive"
        )
    if settings.is_timed and drive.times is None:
        raise WriteampError(f"{drive.name} has no times. Pass a device with times, such as ssd-v")
    if settings.is_timed:
        check_unit(drive)
    plan = Plan(
        load=prepared.load,
        load_name=prepared.load_name,
        host=load,
        policy=Policy.of(policy.manager, policy.victims, policy.wear_leveling),
        run=run,
        notes=(*notes, *prepared.notes),
        earlier=prepared.earlier,
    )
    # A drive that the engine rejects is rejected here before it is aged.
    plan.policy.drive(drive)
    check_memory("the drive needs", drive.geometry.bytes_needed(_all_pages(drive, settings)))
    return Specification(drive, plan, settings, experiment.input_files)


def plugin_config(
    specification: Specification,
    *,
    state: Path | None = None,
    record: Path | None = None,
    ready_busy: Path | None = None,
) -> dict[str, Any]:
    """Return the plugin's settings of a drive, without its control socket.

    Args:
        specification: the drive.
        state: file with its preconditioned state; None for a drive that is not preconditioned now.
        record: file for the recording of requests.
        ready_busy: file for the edges of the Ready/Busy pins.
    """
    device, policy, settings = specification.device, specification.policy, specification.settings
    return {
        "drive": {
            "geometry": device.shape(),
            "logical_pages": _all_pages(device, settings),
            "table_pages": _pages_apart(device, settings),
            "layout": device.layout,
            "manager": policy.manager,
            "victims": policy.asked_victims,
            "wear_leveling": policy.wear_leveling,
            "seed": settings.seed,
            "counts_handles": specification.counts_handles,
        },
        "size_bytes": device.capacity_bytes,
        "host_page_bytes": device.host_page_bytes or None,
        "times": json.loads(device.times_json) if settings.is_timed else None,
        "time_scale": settings.time_scale or 1.0,
        "ready_busy": _text(ready_busy),
        "state": _text(state),
        "backing": None if settings.backing is None else _text(Path(settings.backing)),
        "record": _text(record),
    }


def aged_state(
    specification: Specification, tick: Callable[[], None]
) -> tuple[bytes, Ageing | None]:
    """Precondition a new drive, and return its state and a description of the ageing.

    Args:
        specification: the drive.
        tick: called periodically.
    """
    device, plan = specification.device, specification.plan
    pages = _all_pages(device, specification.settings)
    simulation = EngineSimulation(
        plan.policy.drive(
            device,
            logical_pages=pages,
            table_pages=_pages_apart(device, specification.settings),
            observed=specification.settings.is_timed,
            counts_handles=specification.counts_handles,
        ),
        EngineLoad.spec("uniform", device.logical_pages),
        seed=plan.seed,
        batch_pages=plan.run.batch_pages,
    )
    ageing = precondition(simulation, plan, device, tick)
    if pages > device.logical_pages:
        simulation.fill(device.logical_pages, pages)
    return simulation.drive_state(), ageing


def summary(device: Device) -> str:
    """Return the name and the user capacity of a drive in words."""
    return f"{device.name}, {shown_bytes(device.capacity_bytes)}"


def _all_pages(device: Device, settings: DriveSettings) -> int:
    """Return the number of logical pages, plus those of the mapping table if it is in flash."""
    if not settings.is_timed:
        return device.logical_pages
    return pages_with_table(device.times_json, device.logical_pages, device.page_bytes)


def _pages_apart(device: Device, settings: DriveSettings) -> int:
    """Return the number of mapping-table pages that have flash blocks of their own, or 0."""
    if not settings.is_timed:
        return 0
    return pages_apart(device.times_json, device.logical_pages, device.page_bytes)


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path.absolute())
