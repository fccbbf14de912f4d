"""Simulate one drive: an experiment in, a result out."""

from __future__ import annotations

from dataclasses import replace

from writeamp.devices.device import Device
from writeamp.devices.policy import Policy
from writeamp.errors import WriteampError
from writeamp.experiments.experiment import Experiment
from writeamp.experiments.inputs import Prepared, prepare
from writeamp.experiments.one_run import Progress
from writeamp.experiments.plan import Plan, stated_load
from writeamp.experiments.runner import run, spread_over_sizes
from writeamp.experiments.scale import SMALLER, Measured, Scale, measured_scaling
from writeamp.experiments.scaling import at_scale, notes_of, scale_of
from writeamp.experiments.settings import PolicySettings, SimulationSettings
from writeamp.experiments.simulation_result import Result
from writeamp.experiments.timed_result import TimedResult
from writeamp.experiments.timed_run import run_timed


def run_simulation(
    experiment: Experiment, progress: Progress | None = None
) -> Result | TimedResult:
    """Simulate a drive, in virtual time if the experiment is timed.

    Args:
        experiment: what to do.
        progress: called with the host pages written and expected; in a timed run, with what is done
            of what ends it, and all of it.
    """
    scale = scale_of(experiment)
    if scale is None:
        return _simulated(experiment, progress)
    found = _at_scale(experiment, scale, progress)
    wa, ci = found.wa, found.ci
    scaling = measured_scaling(scale, wa, ci, lambda: _smaller(experiment, scale, progress))
    return replace(found, scaling=scaling)


def _smaller(experiment: Experiment, scale: Scale, progress: Progress | None) -> Measured:
    """Return WA of the drive that tells the error of scaling, and its interval."""
    found = _at_scale(experiment, scale, progress, SMALLER)
    return found.wa, found.ci


def _at_scale(
    experiment: Experiment, scale: Scale, progress: Progress | None, smaller: int = 1
) -> Result:
    """Return what a drive finds that stands for the one that is meant, said of that one."""
    simulated = at_scale(experiment, scale, smaller)
    found = _simulated(simulated, progress)
    assert isinstance(found, Result), "no run of a capacity is timed"
    plan = found.plan
    asked = experiment.load.workload
    name = plan.load_name if asked is None else asked.text
    notes = (*notes_of(experiment, simulated, scale), *plan.notes)
    return replace(found, plan=replace(plan, load_name=name, notes=notes))


def _simulated(experiment: Experiment, progress: Progress | None = None) -> Result | TimedResult:
    settings, policy = experiment.run, experiment.policy
    assert isinstance(settings, SimulationSettings)
    assert isinstance(policy, PolicySettings)
    prepared = prepare(experiment)
    works_by = Policy.of(policy.manager, policy.victims, policy.wear_leveling)
    if experiment.is_timed:
        plan = plan_of(prepared, experiment, works_by, settings)
        return run_timed(plan, prepared.drive, progress, inputs=experiment.input_files)
    plan = plan_of(prepared, experiment, works_by, in_pages(settings, prepared.drive))
    result = run(plan, prepared.drive, progress)
    if experiment.load.trace is None or not settings.spread:
        return result
    return replace(result, spread=spread_over_sizes(plan, prepared.drive, result.wa))


def in_pages(settings: SimulationSettings, drive: Device) -> SimulationSettings:
    """Return the settings of an untimed run, which ends after pages and has no times."""
    if settings.time_scale != 1:
        raise WriteampError("time_scale is for timed runs; give --time, or --timed")
    if settings.host_bytes is None:
        return settings
    pages, rest = divmod(settings.host_bytes, drive.page_bytes)
    if rest or not pages:
        raise WriteampError(
            f"host_bytes is {settings.host_bytes}; an untimed run writes whole pages of "
            f"{drive.page_bytes} bytes"
        )
    return replace(settings, writes=pages, host_bytes=None)


def plan_of(
    prepared: Prepared, experiment: Experiment, policy: Policy, settings: SimulationSettings
) -> Plan:
    """Return the plan of one run of what was prepared."""
    return Plan(
        load=prepared.load,
        load_name=prepared.load_name,
        host=stated_load(experiment.load, prepared.load),
        policy=policy,
        run=settings,
        notes=prepared.notes,
        earlier=prepared.earlier,
        before=prepared.before,
    )
