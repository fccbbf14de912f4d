"""Simulate one drive: an experiment in, a result out."""

from __future__ import annotations

from dataclasses import replace

from writeamp.devices.policy import Policy
from writeamp.experiments.experiment import Experiment
from writeamp.experiments.inputs import Prepared, prepare
from writeamp.experiments.one_run import Progress
from writeamp.experiments.plan import Plan
from writeamp.experiments.runner import run, spread_over_sizes
from writeamp.experiments.settings import PolicySettings, SimulationSettings
from writeamp.experiments.simulation_result import Result


def run_simulation(experiment: Experiment, progress: Progress | None = None) -> Result:
    """Simulate a drive; `progress` is called with the host pages written and expected."""
    settings, policy = experiment.run, experiment.policy
    assert isinstance(settings, SimulationSettings)
    assert isinstance(policy, PolicySettings)
    prepared = prepare(experiment)
    plan = plan_of(
        prepared,
        experiment,
        Policy.of(policy.manager, policy.victims, policy.wear_leveling),
        settings,
    )
    result = run(plan, prepared.drive, progress)
    if experiment.load.trace is None or not settings.spread:
        return result
    return replace(result, spread=spread_over_sizes(plan, prepared.drive, result.wa))


def plan_of(
    prepared: Prepared, experiment: Experiment, policy: Policy, settings: SimulationSettings
) -> Plan:
    """Return the plan of one run of what was prepared."""
    return Plan(
        load=prepared.load,
        load_name=prepared.load_name,
        host=experiment.load,
        policy=policy,
        run=settings,
        notes=prepared.notes,
        earlier=prepared.earlier,
    )
