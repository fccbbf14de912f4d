"""Many block managers on one workload or trace (docs/compare.md)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from writeamp.devices.device import Device
from writeamp.devices.policy import Policy
from writeamp.errors import Interrupted, WriteampError
from writeamp.experiments.comparison_result import Comparison, Row
from writeamp.experiments.experiment import Experiment
from writeamp.experiments.inputs import Prepared, prepare
from writeamp.experiments.one_run import Progress
from writeamp.experiments.plan import Plan
from writeamp.experiments.runner import drives_that_fit, run
from writeamp.experiments.scale import SMALLER, Scale, Scaling, difference
from writeamp.experiments.scaling import at_scale, halves, notes_of, scale_of
from writeamp.experiments.settings import ComparisonSettings, PoliciesSettings, SimulationSettings
from writeamp.experiments.simulation import plan_of
from writeamp.experiments.simulation_result import Result
from writeamp.registry.specs import Spec
from writeamp.runners import Runner, Shared, gather, local_runner

# The same for every manager, or a workload that changes would be another one for each; enough for
# most schemes to learn what is hot on skewed workloads, the second half of it measured.
DEFAULT_DRIVE_WRITES = 20

# In what the runs of a comparison differ: policy and seed.
_Turn: TypeAlias = tuple[Policy, int]


def run_comparison(
    experiment: Experiment, progress: Progress | None = None, runner: Runner | None = None
) -> Comparison:
    """Simulate a drive under each manager.

    Args:
        experiment: what to do.
        progress: called with the runs done and in all.
        runner: who does the runs; by default threads of this process, as many as `threads` says.

    Raises:
        Interrupted: Ctrl-C, with a comparison of the managers that were finished, or None.
    """
    scale = scale_of(experiment)
    if scale is None:
        return _compared(experiment, progress, runner)
    simulated = at_scale(experiment, scale)
    if scale.is_exact:
        found = _compared(simulated, progress, runner)
        return _scaled(experiment, simulated, found, scale, [0.0] * len(found.rows))
    first, second = halves(progress)
    found = _compared(simulated, first, runner)
    unknown = [math.nan] * len(found.rows)
    try:
        other = _compared(at_scale(experiment, scale, SMALLER), second, runner)
    except Interrupted:
        part = _scaled(experiment, simulated, found, scale, unknown)
        raise Interrupted(
            replace(part, interrupted_of=tuple(map(str, _managers(experiment))))
        ) from None
    except WriteampError:  # one so small can be too small for a manager
        return _scaled(experiment, simulated, found, scale, unknown)
    errors = [
        difference(ours.wa, ours.ci, others.wa, others.ci)
        for ours, others in zip(found.rows, other.rows, strict=True)
    ]
    return _scaled(experiment, simulated, found, scale, errors)


def _scaled(
    experiment: Experiment,
    simulated: Experiment,
    found: Comparison,
    scale: Scale,
    errors: Sequence[float],
) -> Comparison:
    """Return a comparison said of the drive that is meant, with the error of each row."""
    asked = experiment.load.workload
    notes = notes_of(experiment, simulated, scale)

    def meant(result: Result) -> Result:
        plan = result.plan
        name = plan.load_name if asked is None else asked.text
        return replace(result, plan=replace(plan, load_name=name, notes=(*notes, *plan.notes)))

    rows = tuple(
        replace(
            row,
            results=tuple(map(meant, row.results)),
            scaling=Scaling(scale, error),
        )
        for row, error in zip(found.rows, errors, strict=True)
    )
    return replace(found, rows=rows)


def _compared(
    experiment: Experiment, progress: Progress | None, runner: Runner | None
) -> Comparison:
    first, drive = _first(experiment)
    settings, turns = _settings(experiment), _turns(experiment)
    if runner is None:
        most = min(settings.threads or len(turns), drives_that_fit(drive))
        runner = local_runner(len(turns), most)

    def comparison(results: Mapping[int, Result]) -> Comparison:
        whole = {
            at: replace(result, plan=_plan_of_turn(first, turns[at]))
            for at, result in results.items()
        }
        return Comparison(_rows(experiment, whole))

    work = partial(_run_turn, Shared((first, drive), partial(_first, experiment)))
    try:
        results = gather(runner, work, turns, files=experiment.input_files, progress=progress)
    except Interrupted as stopped:
        finished = comparison(stopped.finished)
        asked = tuple(map(str, _managers(experiment)))
        raise Interrupted(
            replace(finished, interrupted_of=asked) if finished.rows else None
        ) from None
    return comparison(dict(enumerate(results)))


def _settings(experiment: Experiment) -> ComparisonSettings:
    assert isinstance(experiment.run, ComparisonSettings)
    return experiment.run


def _managers(experiment: Experiment) -> tuple[Spec, ...]:
    policies = experiment.policy
    assert isinstance(policies, PoliciesSettings)
    assert policies.managers is not None
    return policies.managers


def _turns(experiment: Experiment) -> list[_Turn]:
    policies, settings = experiment.policy, _settings(experiment)
    return [
        (Policy.of(manager, policies.victims, policies.wear_leveling), settings.seed + replica)
        for manager in _managers(experiment)
        for replica in range(settings.replicas)
    ]


def _first(experiment: Experiment) -> tuple[Plan, Device]:
    """Return the plan of the first turn, and the drive of all."""
    prepared = prepare(experiment)
    policy, _ = _turns(experiment)[0]
    return plan_of(prepared, experiment, policy, _one_run(prepared, experiment)), prepared.drive


def _run_turn(shared: Shared[tuple[Plan, Device]], turn: _Turn) -> Result:
    """Run a turn on the drive that all have; traces do not travel with the result."""
    first, drive = shared.value
    plan = _plan_of_turn(first, turn)
    try:
        return replace(run(plan, drive), plan=plan.without_requests())
    except WriteampError as error:
        raise WriteampError(f"{plan.policy.manager}: {error}") from None


def _plan_of_turn(first: Plan, turn: _Turn) -> Plan:
    policy, seed = turn
    return replace(first, policy=policy, run=replace(first.run, seed=seed))


def _one_run(prepared: Prepared, experiment: Experiment) -> SimulationSettings:
    """Return how each drive is run: as long as the others, the second half of it measured.

    Of a recording, all that counted is measured.
    """
    settings, load = _settings(experiment), prepared.load
    writes = settings.writes
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


def _rows(experiment: Experiment, results: Mapping[int, Result]) -> tuple[Row, ...]:
    """Return the rows of the managers all of whose replicas have a result."""
    replicas = _settings(experiment).replicas
    rows = []
    for at, manager in enumerate(_managers(experiment)):
        places = range(at * replicas, (at + 1) * replicas)
        if all(place in results for place in places):
            rows.append(Row(str(manager), tuple(results[place] for place in places)))
    return tuple(rows)
