"""Many block managers on one workload or trace (docs/compare.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from writeamp.devices.policy import Policy
from writeamp.errors import Interrupted, WriteampError
from writeamp.experiments.comparison_result import Comparison, Row
from writeamp.experiments.experiment import Experiment
from writeamp.experiments.inputs import Prepared, prepare
from writeamp.experiments.one_run import Progress
from writeamp.experiments.plan import Plan
from writeamp.experiments.runner import drives_that_fit, run
from writeamp.experiments.settings import ComparisonSettings, PoliciesSettings, SimulationSettings
from writeamp.experiments.simulation import plan_of
from writeamp.experiments.simulation_result import Result
from writeamp.parallel import run_all
from writeamp.registry.specs import Spec

# The same for every manager, or a workload that changes would be another one for each; enough for
# most schemes to learn what is hot on skewed workloads, the second half of it measured.
DEFAULT_DRIVE_WRITES = 20


def run_comparison(experiment: Experiment, progress: Progress | None = None) -> Comparison:
    """Simulate a drive under each manager; `progress` is called with the runs done and in all.

    Raises:
        Interrupted: Ctrl-C, with a comparison of the managers that were finished, or None.
    """
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

    def run_one(plan: Plan) -> Result:
        try:
            return run(plan, prepared.drive)
        except WriteampError as error:
            raise WriteampError(f"{plan.policy.manager}: {error}") from None

    try:
        results = run_all(
            run_one,
            [(plan,) for plan in plans],
            threads=min(settings.threads or len(plans), drives_that_fit(prepared.drive)),
            progress=progress,
        )
    except Interrupted as stopped:
        finished = _by_manager(policies, settings.replicas, stopped.finished)
        asked = tuple(map(str, policies.managers))
        raise Interrupted(
            replace(finished, interrupted_of=asked) if finished.rows else None
        ) from None
    return _by_manager(policies, settings.replicas, dict(enumerate(results)))


def _one_run(
    prepared: Prepared, experiment: Experiment, settings: ComparisonSettings
) -> SimulationSettings:
    """Return how each drive is run: as long as the others, the second half of it measured.

    Of a recording, all that counted is measured.
    """
    writes, load = settings.writes, prepared.load
    if isinstance(load, Spec):
        writes = DEFAULT_DRIVE_WRITES * prepared.drive.logical_pages if writes is None else writes
        in_all = writes
    else:
        in_all = load.host_pages * experiment.load.repeat if writes is None else writes
    return SimulationSettings(
        writes=writes,
        warmup=0 if prepared.is_recorded else in_all // 2,
        replicas=1,
        spread=False,
        batch_pages=settings.batch_pages,
    )


def _by_manager(
    policies: PoliciesSettings, replicas: int, results: Mapping[int, Result]
) -> Comparison:
    """Return the rows of the managers all of whose replicas have a result."""
    rows = []
    for at, manager in enumerate(policies.managers or ()):
        places = range(at * replicas, (at + 1) * replicas)
        if all(place in results for place in places):
            rows.append(Row(str(manager), tuple(results[place] for place in places)))
    return Comparison(tuple(rows))
