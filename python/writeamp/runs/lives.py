"""Life of one drive out of several with different seeds, as a job for any runner."""

from __future__ import annotations

import math
from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING

from writeamp._engine import Endurance as EngineStudy
from writeamp.devices.device import Device
from writeamp.devices.policy import Policy
from writeamp.registry.specs import Spec
from writeamp.runners import Shared
from writeamp.runs.inputs import PreparedRun, prepare
from writeamp.runs.lifetime_plan import Lifetime
from writeamp.runs.loads import load_of_spec, load_of_trace
from writeamp.runs.plan import stated_load, used_pages
from writeamp.runs.preconditioning import fill_runs, written_runs
from writeamp.runs.refusals import check_memory, refusals
from writeamp.runs.seeds import replica_seed
from writeamp.settings.experiment import Experiment
from writeamp.settings.settings import EnduranceSettings, PolicySettings
from writeamp.text import Caution

if TYPE_CHECKING:  # a type of the stub only
    from writeamp._engine import Life

# Number of passes over a trace: more than any drive can endure, so that a life ends by wear only.
_WITHOUT_END = 2**63 - 1


def plan_of_lives(
    experiment: Experiment, prepared: PreparedRun, *, threads: int | None = None
) -> Lifetime:
    """Return the plan of an experiment's lives; `threads` of them run at a time."""
    settings, policy = experiment.run, experiment.policy
    assert isinstance(settings, EnduranceSettings)
    assert isinstance(policy, PolicySettings)
    spare_per_pool, pools = _spare_blocks(prepared.drive, settings.spare_share)
    return Lifetime(
        device=prepared.drive,
        load=prepared.load,
        load_name=prepared.load_name,
        host=stated_load(experiment.load, prepared.load),
        policy=Policy.of(policy.manager, policy.victims, policy.wear_leveling),
        run=settings,
        spare_blocks=spare_per_pool * pools,
        threads=threads,
        capacity_bytes=experiment.device.capacity,
        notes=(
            *map(Caution, prepared.warnings),
            *prepared.notes,
            *_spare_note(settings.spare_share, spare_per_pool),
        ),
    )


class LifeInputs:
    """Inputs that all lives share; a trace exists once in memory, in the engine's form.

    `filled_pages` is the number of pages written before host writes count.
    """

    def __init__(self, plan: Lifetime, prepared: PreparedRun) -> None:
        """Set the inputs from a plan and a prepared run."""
        drive = plan.device
        if isinstance(plan.load, Spec):
            load = load_of_spec(plan.load, used_pages(plan.load, plan.host, drive), drive)
        else:
            load = load_of_trace(plan.load, passes=_WITHOUT_END)
        fill = fill_runs(plan.load, plan.host, drive)
        if prepared.uncounted is not None and not fill:
            fill = written_runs(prepared.uncounted)
        spare_per_pool, _ = _spare_blocks(drive, plan.run.spare_share)
        self.filled_pages = sum(end - first for first, end in fill)
        self._seed = plan.seed
        self._drive_bytes = drive.geometry.bytes_needed(drive.logical_pages)
        with refusals():
            self._engine = EngineStudy(
                plan.policy.drive(drive),
                load,
                batch_pages=plan.run.batch_pages,
                w_max=plan.w_max,
                spare_blocks_per_pool=spare_per_pool,
                fill=fill,
            )

    def live(self, replica: int, on_erases: Callable[[int], None] | None) -> Life:
        """Run a replica to its end of life; `on_erases` gets the erases of its most worn block."""
        check_memory("the drive needs", self._drive_bytes)
        with refusals():
            return self._engine.live(replica_seed(self._seed, replica), on_erases)


def life_inputs_of(experiment: Experiment) -> LifeInputs:
    """Return the inputs of the lives of a checked experiment."""
    prepared = prepare(experiment)
    return LifeInputs(plan_of_lives(experiment, prepared), prepared)


class Wear:
    """Progress of all lives that run in threads of this process."""

    def __init__(self, on_erases: Callable[[int], object]) -> None:
        """Set the callback, which gets the sum over lives of the erases of the most worn block."""
        self._on_erases = on_erases
        self._erases: dict[int, int] = {}
        self._sum = 0
        self._lock = Lock()

    def update(self, replica: int, erases: int) -> None:
        """Set the erases of a replica's most worn block, and report the new sum."""
        with self._lock:
            self._sum += erases - self._erases.get(replica, 0)
            self._erases[replica] = erases
            self._on_erases(self._sum)


def live(shared: Shared[LifeInputs], replica: int, wear: Wear | None = None) -> Life:
    """Return the life of a replica.

    Args:
        shared: inputs shared by all replicas.
        replica: number of the replica; with the plan's seed it determines the replica's seed.
        wear: progress, which is updated from time to time and at the end.

    Raises:
        WriteampError: memory is too small for the drive, or its life would not end.
    """
    if wear is None:
        return shared.value.live(replica, None)
    life = shared.value.live(replica, lambda erases: wear.update(replica, erases))
    wear.update(replica, life["first_to_reach"]["erases"].size)
    return life


def _spare_blocks(drive: Device, share: float) -> tuple[int, int]:
    """Return the number of spare blocks in each pool, and the number of pools."""
    pools = 1 if drive.layout == "flat" else drive.geometry.luns
    # Allow for rounding: 0.29·100 is 28.999999999999996 in floating point and means 29.
    return math.floor(share * (drive.geometry.blocks // pools) * (1 + 1e-12)), pools


def _spare_note(share: float, spare_per_pool: int) -> list[str]:
    if share == 0 or spare_per_pool > 0:
        return []
    return [
        f"spare_share {share} is less than one block of a pool (the drive, or a LUN), so no block "
        "is spare"
    ]
