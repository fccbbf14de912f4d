"""Many block managers on one workload or trace (docs/compare.md)."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Event, Lock

from writeamp.devices.policy import Policy
from writeamp.errors import WriteampError
from writeamp.experiments.comparison_result import Comparison, Row
from writeamp.experiments.experiment import Experiment
from writeamp.experiments.inputs import Prepared, prepare
from writeamp.experiments.one_run import Progress
from writeamp.experiments.plan import Plan
from writeamp.experiments.runner import run
from writeamp.experiments.settings import ComparisonSettings, PoliciesSettings, SimulationSettings
from writeamp.experiments.simulation import plan_of
from writeamp.experiments.simulation_result import Result
from writeamp.registry.specs import Spec

# The same for every manager, or a workload that changes would be another one for each; enough for
# most schemes to learn what is hot on skewed workloads, the second half of it measured.
DEFAULT_DRIVE_WRITES = 20


def run_comparison(experiment: Experiment, progress: Progress | None = None) -> Comparison:
    """Simulate a drive under each manager; `progress` is called with the runs done and in all."""
    settings, policies = experiment.run, experiment.policy
    assert isinstance(settings, ComparisonSettings)
    assert isinstance(policies, PoliciesSettings)
    assert policies.managers is not None
    prepared = prepare(experiment)
    one_run = _one_run(prepared, experiment, settings)
    plans = [
        plan_of(
            prepared,
            experiment,
            Policy.of(manager, policies.victims, policies.wear_leveling),
            replace(one_run, seed=settings.seed + replica),
        )
        for manager in policies.managers
        for replica in range(settings.replicas)
    ]
    results = _run_all(plans, prepared, settings.threads, progress)
    return Comparison(
        tuple(
            Row(str(manager), tuple(results[at * settings.replicas : (at + 1) * settings.replicas]))
            for at, manager in enumerate(policies.managers)
        )
    )


def _one_run(
    prepared: Prepared, experiment: Experiment, settings: ComparisonSettings
) -> SimulationSettings:
    """Return how each drive is run: as long as the others, the second half of it measured."""
    writes, load = settings.writes, prepared.load
    if isinstance(load, Spec):
        writes = DEFAULT_DRIVE_WRITES * prepared.drive.logical_pages if writes is None else writes
        in_all = writes
    else:
        in_all = load.host_pages * experiment.load.repeat if writes is None else writes
    return SimulationSettings(
        writes=writes,
        warmup=in_all // 2,
        replicas=1,
        spread=False,
        batch_pages=settings.batch_pages,
    )


def _run_all(
    plans: list[Plan], prepared: Prepared, threads: int | None, progress: Progress | None
) -> list[Result]:
    """Run the plans several at a time; an error or an interrupt stops all."""
    done, lock, cancelled = 0, Lock(), Event()

    def stop_if_cancelled(_done: int, _expected: int) -> None:
        if cancelled.is_set():
            raise WriteampError("cancelled")

    def run_one(plan: Plan) -> Result:
        nonlocal done
        try:
            result = run(plan, prepared.drive, stop_if_cancelled)
        except WriteampError as error:
            raise WriteampError(f"{plan.policy.manager}: {error}") from None
        with lock:
            done += 1
            if progress:
                progress(done, len(plans))
        return result

    pool = ThreadPoolExecutor(threads or os.cpu_count() or 1)
    try:
        return list(pool.map(run_one, plans))
    finally:
        cancelled.set()
        pool.shutdown(cancel_futures=True)
