"""Lifetimes of drives: from an experiment to simulated lives (docs/endurance.md)."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
import numpy.typing as npt

from writeamp._engine import CAUSES
from writeamp.devices.device import Device
from writeamp.errors import Interrupted, WriteampError
from writeamp.files.output import AnyPath
from writeamp.results.documents import from_document, to_document
from writeamp.runners import Here, Progress, Runner, Shared, Threads, local_runner
from writeamp.runs.capacity_error import LifeScalingErrors
from writeamp.runs.inputs import prepare
from writeamp.runs.lifetime_plan import Counts, Lifetime
from writeamp.runs.lives import LifeInputs, Wear, life_inputs_of, live, plan_of_lives
from writeamp.runs.meaning import meaning_of_life
from writeamp.runs.partial_pages import partial_page_factor
from writeamp.runs.refusals import check_memory
from writeamp.runs.seeds import replica_seed
from writeamp.settings.experiment import Experiment
from writeamp.settings.precondition import FILLS, Precondition
from writeamp.settings.settings import EnduranceSettings, LoadSettings
from writeamp.studies.capacity.scaled_experiment import ScaledExperiment, over_capacity
from writeamp.studies.endurance.jesd219 import with_jesd219
from writeamp.studies.endurance.result import Endurance
from writeamp.studies.study import DocumentCodec, RunFacts, RunStore, keep_runs

if TYPE_CHECKING:  # a type that exists only in the stub file of the engine
    from writeamp._engine import Life

# Memory in bytes for each block of a replica, and for each number of erases up to `w_max`.
_BYTES_PER_BLOCK = 16
_BYTES_PER_W = 24 * (2 + len(CAUSES))


def run_lifetime(
    experiment: Experiment,
    progress: Progress | None = None,
    check_drive: Callable[[Device], object] | None = None,
    runner: Runner | None = None,
    keep: AnyPath | None = None,
    *,
    is_rated: bool = False,
) -> Endurance:
    """Run replicas of a drive until they are worn out.

    Args:
        experiment: experiment to run.
        progress: called with the erases of the most worn block, summed over the replicas, and the
            expected total.
        check_drive: called with the drive before it runs; it raises an error to reject the drive.
        runner: runs the replicas, one job for each; by default threads of this process, as many as
            `threads`.
        keep: folder that stores each finished life; stored lives are not repeated.
        is_rated: whether lives under JESD219 are run, too; they are not stored.

    Raises:
        Interrupted: Ctrl-C; it carries the finished lives, or None.
    """
    checks = iter([check_drive])  # not for the smaller drive that gives the scaling error

    def lives(store: RunStore) -> Endurance:
        def worn_out(variant: Experiment, report: Progress | None) -> Endurance:
            return _worn_out(variant, report, next(checks, None), runner, store)

        return over_capacity(experiment, worn_out, _to_target, progress)

    result = keep_runs(keep, lives)
    if not is_rated:
        return result

    def rated(variant: Experiment) -> Endurance:
        return over_capacity(
            variant,
            lambda each, _: _worn_out(each, None, None, runner, RunStore()),
            _to_target,
            None,
        )

    return with_jesd219(experiment, result, rated)


def _to_target(scaled: ScaledExperiment, result: Endurance, other: Endurance | None) -> Endurance:
    """Return lives on a smaller drive as lives of the requested drive, with the scaling errors."""
    others = None if other is None else other.measures
    errors = LifeScalingErrors.of(scaled.scale, result.measures, others)
    return replace(result, plan=scaled.target_plan(result.plan), scaling=errors)


def _worn_out(
    experiment: Experiment,
    progress: Progress | None,
    check_drive: Callable[[Device], object] | None,
    runner: Runner | None,
    store: RunStore,
) -> Endurance:
    settings = experiment.run
    assert isinstance(settings, EnduranceSettings)
    _check_fill(experiment.load)
    prepared = prepare(experiment)
    if check_drive:
        check_drive(prepared.drive)
    runner = runner or local_runner(settings.replicas, settings.threads)
    # Only threads of this process can report progress within a life.
    threads = runner.at_once(settings.replicas) if isinstance(runner, Here | Threads) else None
    plan = plan_of_lives(experiment, prepared, threads=threads)
    _check_memory(plan)
    started = time.perf_counter()
    life_inputs = LifeInputs(plan, prepared)

    def result(lives: Mapping[int, Life]) -> Endurance:
        elapsed_s = time.perf_counter() - started
        return _result(plan, lives, life_inputs.filled_pages, elapsed_s=elapsed_s)

    def report(erases: int) -> None:
        if progress:
            progress(erases, plan.replicas * plan.w_max)

    shared = Shared(life_inputs, partial(life_inputs_of, experiment))
    wear = None if threads is None else Wear(report)
    try:
        lives = store.gather(
            _LifeCodec(plan),
            runner,
            partial(live, shared, wear=wear),
            range(plan.replicas),
            files=experiment.input_files,
            progress=None if wear else lambda ended, _: report(ended * plan.w_max),
        )
    except Interrupted as stopped:
        raise Interrupted(result(stopped.finished) if stopped.finished else None) from None
    return result(dict(enumerate(lives)))


class _LifeDocument(TypedDict):
    """Type of the engine's `Life` for stored documents; `Life` exists only for type checkers."""

    end: dict[str, npt.NDArray[np.uint64]]
    first_to_reach: dict[str, npt.NDArray[np.uint64]]
    erase_counts: npt.NDArray[np.uint64]


class _LifeCodec(DocumentCodec[int, "Life"]):
    """Storage of finished lives; the key covers drive, load, policy, end of life and seed."""

    verb = "endurance"

    def __init__(self, plan: Lifetime) -> None:
        self._plan = plan

    def meaning(self, replica: int) -> dict[str, Any]:
        return meaning_of_life(self._plan, self._seed(replica))

    def facts(self, replica: int, life: Life) -> RunFacts:
        result = _result(self._plan, {replica: life}, 0, elapsed_s=0)
        return RunFacts(f"life of {self._plan.policy}", self._seed(replica), result.wa)

    def document(self, replica: int, life: Life) -> Any:
        return to_document(life)

    def result(self, replica: int, document: Any) -> Life:
        life: Life = from_document(_LifeDocument, document)
        return life

    def _seed(self, replica: int) -> int:
        return replica_seed(self._plan.seed, replica)


def _result(
    plan: Lifetime, lives: Mapping[int, Life], filled_pages: int, *, elapsed_s: float
) -> Endurance:
    replicas = sorted(lives)
    ends = [lives[replica]["end"] for replica in replicas]
    firsts = [lives[replica]["first_to_reach"] for replica in replicas]
    end = {name: np.concatenate([counts[name] for counts in ends]) for name in ends[0]}
    reached = {name: np.stack([counts[name] for counts in firsts]) for name in firsts[0]}
    page_bytes = plan.device.page_bytes
    filled = filled_pages * len(replicas)
    pages = int(end["written_pages"].sum()) - filled
    written_bytes = int(end["written_bytes"].sum()) - filled * page_bytes
    return Endurance(
        plan=plan,
        end=Counts.of(end, filled_pages),
        reached=Counts.of(reached, filled_pages),
        erases_of_block=np.stack([lives[replica]["erase_counts"] for replica in replicas]),
        seeds=np.array([replica_seed(plan.seed, replica) for replica in replicas], np.uint64),
        elapsed_s=elapsed_s,
        partial_page_factor=partial_page_factor(plan.load, pages, written_bytes, page_bytes),
        partial_share=int(end["partial_pages"].sum()) / max(1, pages),
    )


def _check_fill(load: LoadSettings) -> None:
    if Precondition.of(load.precondition).ages:
        raise WriteampError(
            f"precondition {load.precondition} wears the drive, but endurance counts from the new "
            f"drive; valid are {', '.join(FILLS)}"
        )


def _check_memory(plan: Lifetime) -> None:
    drive = plan.device
    bytes_per_life = _BYTES_PER_BLOCK * drive.geometry.blocks + _BYTES_PER_W * plan.w_max
    drives = "" if plan.threads is None else f"{plan.threads} drive(s) at a time and "
    at_once = (plan.threads or 0) * drive.geometry.bytes_needed(drive.logical_pages)
    check_memory(
        f"{drives}the records of {plan.replicas} lives need",
        at_once + plan.replicas * bytes_per_life,
    )
