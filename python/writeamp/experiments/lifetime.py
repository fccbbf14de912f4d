"""Run drives until they are worn out: an experiment in, lives out (docs/endurance.md)."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from writeamp._engine import CAUSES
from writeamp._engine import Endurance as EngineLives
from writeamp.devices.device import Device
from writeamp.devices.policy import Policy
from writeamp.errors import Interrupted, WriteampError
from writeamp.experiments.experiment import Experiment
from writeamp.experiments.inputs import prepare
from writeamp.experiments.lifetime_result import Counts, Endurance, Lifetime
from writeamp.experiments.loads import load_of_spec, load_of_trace
from writeamp.experiments.memory import check_memory
from writeamp.experiments.one_run import Progress
from writeamp.experiments.plan import used_pages
from writeamp.experiments.precondition import FILLS, Precondition
from writeamp.experiments.preconditioning import fill_runs, written_runs
from writeamp.experiments.settings import LifetimeSettings, LoadSettings, PolicySettings
from writeamp.parallel import useful_threads
from writeamp.registry.specs import Spec

if TYPE_CHECKING:  # a type of the stub only
    from writeamp._engine import Lives

# Passes over a trace: more than any drive outlives.
_WITHOUT_END = 2**63 - 1

# What the engine and the library keep of each replica, and of each number of erases in it.
_BYTES_PER_BLOCK = 16
_BYTES_PER_W = 24 * (2 + len(CAUSES))


def run_lifetime(
    experiment: Experiment,
    progress: Progress | None = None,
    check_drive: Callable[[Device], object] | None = None,
) -> Endurance:
    """Wear replicas of a drive out.

    `progress` is called with the erases of the most worn block, summed over the replicas, and what
    they will be in the end; `check_drive` with the drive, to refuse it before it runs.

    Raises:
        Interrupted: Ctrl-C, with the lives that had come to their end, or None.
    """
    settings, policy = experiment.run, experiment.policy
    assert isinstance(settings, LifetimeSettings)
    assert isinstance(policy, PolicySettings)
    _check_fill(experiment.load)
    prepared = prepare(experiment)
    drive = prepared.drive
    if check_drive:
        check_drive(drive)
    spare_per_pool, pools = _spare_blocks(drive, settings.spare_share)
    plan = Lifetime(
        device=drive,
        load=prepared.load,
        load_name=prepared.load_name,
        host=experiment.load,
        policy=Policy.of(policy.manager, policy.victims, policy.wear_leveling),
        run=settings,
        spare_blocks=spare_per_pool * pools,
        threads=useful_threads(settings.threads, settings.replicas),
        notes=(*prepared.notes, *_spare_note(settings.spare_share, spare_per_pool)),
    )
    _check_memory(plan)
    started = time.perf_counter()
    fill = fill_runs(plan.load, plan.host, drive)
    if prepared.before is not None and not fill:
        fill = written_runs(prepared.before)
    engine = _build(plan, settings.batch_pages, spare_per_pool, fill)
    filled = sum(end - first for first, end in fill)
    expected = plan.replicas * plan.w_max
    try:
        lives = engine.run((lambda reached: progress(reached, expected)) if progress else None)
    except KeyboardInterrupt:
        ended = engine.ended()
        elapsed_s = time.perf_counter() - started
        partial = _result(plan, ended, filled, elapsed_s) if len(ended["replica"]) else None
        raise Interrupted(partial) from None
    return _result(plan, lives, filled, time.perf_counter() - started)


def _result(plan: Lifetime, lives: Lives, filled: int, elapsed_s: float) -> Endurance:
    return Endurance(
        plan=plan,
        end=Counts.of({name: table[:, 0] for name, table in lives["end"].items()}, filled),
        reached=Counts.of(lives["first_to_reach"], filled),
        erases_of_block=lives["erase_counts"],
        seeds=plan.seed + lives["replica"],
        elapsed_s=elapsed_s,
    )


def _check_fill(load: LoadSettings) -> None:
    if Precondition.of(load.precondition).ages:
        raise WriteampError(
            f"precondition {load.precondition} wears the drive, and endurance counts a life from "
            f"the new drive on; use {', '.join(FILLS)}"
        )


def _spare_blocks(drive: Device, share: float) -> tuple[int, int]:
    """Return the spare blocks of each pool, and the pools."""
    pools = 1 if drive.layout == "flat" else drive.geometry.luns
    # 0.29·100 is 28.999999999999996 in floating point: a hair below a whole number is that number.
    return math.floor(share * (drive.geometry.blocks // pools) * (1 + 1e-12)), pools


def _spare_note(share: float, spare_per_pool: int) -> list[str]:
    if share == 0 or spare_per_pool > 0:
        return []
    return [f"spare_share {share} is less than one block, so that no block is spare"]


def _check_memory(plan: Lifetime) -> None:
    drive = plan.device
    of_life = _BYTES_PER_BLOCK * drive.geometry.blocks + _BYTES_PER_W * plan.w_max
    at_once = plan.threads * drive.geometry.bytes_needed(drive.logical_pages)
    check_memory(
        f"{plan.threads} drive(s) at a time and the records of {plan.replicas} live(s) need",
        at_once + plan.replicas * of_life,
    )


def _build(
    plan: Lifetime, batch_pages: int, spare_per_pool: int, fill: list[tuple[int, int]]
) -> EngineLives:
    drive = plan.device
    if isinstance(plan.load, Spec):
        load = load_of_spec(plan.load, used_pages(plan.load, plan.host, drive), drive)
    else:
        load = load_of_trace(plan.load, passes=_WITHOUT_END)
    return EngineLives(
        plan.policy.drive(drive),
        load,
        seed=plan.seed,
        batch_pages=batch_pages,
        w_max=plan.w_max,
        spare_blocks_per_pool=spare_per_pool,
        fill=fill,
        replicas=plan.replicas,
        threads=plan.threads,
    )
