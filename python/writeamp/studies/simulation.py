"""Simulation of one drive: from an experiment to its result."""

from __future__ import annotations

import math
from dataclasses import replace

from writeamp.devices.policy import Policy
from writeamp.errors import WriteampError
from writeamp.registry.specs import Spec
from writeamp.results.protocol import SimulationResult
from writeamp.runners import Progress
from writeamp.runs.capacity_error import SMALLER
from writeamp.runs.drive_result import DriveResult
from writeamp.runs.inputs import PreparedRun, prepare
from writeamp.runs.loads import writes_in_all
from writeamp.runs.partial_pages import factor_of_load
from writeamp.runs.plan import Plan, policy_of, stated_load, used_pages
from writeamp.runs.runner import run, spread_over_sizes
from writeamp.runs.simulation_result import Result
from writeamp.runs.timed.result import TimedResult
from writeamp.runs.timed.run import run_timed
from writeamp.settings.experiment import Experiment
from writeamp.settings.settings import LoadSettings, PolicySettings, SimulationSettings
from writeamp.studies.candidates import over_candidates
from writeamp.studies.capacity.scaled_experiment import ScaledExperiment, over_capacity


def run_simulation(experiment: Experiment, progress: Progress | None = None) -> SimulationResult:
    """Simulate a drive, in virtual time if the experiment is timed.

    On a learnt profile, all probable candidate drives are simulated.

    Args:
        experiment: experiment to run.
        progress: called with the number of host pages written and expected; in a timed run, with
            the progress and the total in ns, bytes or requests, depending on what ends the run.
    """
    return over_candidates(experiment, simulate_drive, progress)


def simulate_drive(experiment: Experiment, progress: Progress | None = None) -> DriveResult:
    """Simulate one drive; for a learnt profile, the most probable candidate."""
    simulate = simulate_timed if experiment.is_timed else simulate_untimed
    return simulate(experiment, progress)


def simulate_untimed(experiment: Experiment, progress: Progress | None = None) -> Result:
    """Simulate one drive without times; the experiment must not be timed."""
    assert not experiment.is_timed
    to_target = ScaledExperiment.target_result
    return over_capacity(experiment, _untimed, to_target, progress, share=1 / SMALLER)


def simulate_timed(experiment: Experiment, progress: Progress | None = None) -> TimedResult:
    """Simulate one drive in virtual time; the experiment must be timed."""
    assert experiment.is_timed
    prepared = prepare(experiment)
    settings, policy = _settings_of(experiment)
    plan = plan_of(prepared, experiment, policy, settings)
    return run_timed(plan, prepared.drive, progress, inputs=experiment.input_files)


def _settings_of(experiment: Experiment) -> tuple[SimulationSettings, Policy]:
    settings, policy = experiment.run, experiment.policy
    assert isinstance(settings, SimulationSettings)
    assert isinstance(policy, PolicySettings)
    return settings, policy_of(policy)


def _untimed(experiment: Experiment, progress: Progress | None) -> Result:
    prepared = prepare(experiment)
    settings, policy = _settings_of(experiment)
    plan = plan_of(prepared, experiment, policy, in_pages(settings, prepared))
    result = run(plan, prepared.drive, progress)
    if not settings.spread or not _may_lock_in_phase(plan):
        return result
    return replace(result, spread=spread_over_sizes(plan, prepared.drive, result))


def _may_lock_in_phase(plan: Plan) -> bool:
    """Return whether the load may lock in phase with garbage collection.

    Cyclic loads may: a trace, or a sequential stream in a mix. A manager with one stream for all
    writes mixes sequential and other writes in its blocks, which prevents that for a mix.
    """
    load = plan.load
    if not isinstance(load, Spec):
        return True
    is_mixed = load.name != "sequential" and "sequential" in load.canonical
    return is_mixed and Spec.of("managers", plan.policy.manager).name != "single"


def in_pages(settings: SimulationSettings, prepared: PreparedRun) -> SimulationSettings:
    """Return the settings of an untimed run, with its length converted from bytes to pages.

    If requests cover pages in part, the host writes more pages for the same bytes.
    """
    if settings.time_scale != 1:
        raise WriteampError("time_scale is for timed runs; give --time or --timed, or omit it")
    if settings.host_bytes is None:
        return settings
    drive = prepared.drive
    pages, rest = divmod(settings.host_bytes, drive.page_bytes)
    if rest or not pages:
        raise WriteampError(
            f"host_bytes is {settings.host_bytes}; in an untimed run it must be a multiple of the "
            f"page size, {drive.page_bytes} bytes"
        )
    factor = factor_of_load(prepared.load, drive.logical_pages, drive, settings.seed)
    pages = pages if math.isnan(factor) else round(pages * factor)
    return replace(settings, writes=pages, host_bytes=None)


def plan_of(
    prepared: PreparedRun, experiment: Experiment, policy: Policy, settings: SimulationSettings
) -> Plan:
    """Return the plan of one run of a prepared drive and load."""
    if not experiment.is_timed:
        settings = _until_the_end(settings, prepared, experiment.load)
    return Plan(
        load=prepared.load,
        load_name=prepared.load_name,
        host=stated_load(experiment.load, prepared.load),
        policy=policy,
        run=settings,
        notes=prepared.notes,
        earlier=prepared.earlier,
        uncounted=prepared.uncounted,
        window=prepared.window,
        warnings=prepared.warnings,
    )


def _until_the_end(
    settings: SimulationSettings, prepared: PreparedRun, host: LoadSettings
) -> SimulationSettings:
    """Return the settings of an untimed run; if the workload ends, the run ends with it."""
    load, drive = prepared.load, prepared.drive
    end = writes_in_all(load, used_pages(load, host, drive), drive)
    if end is None:
        return settings
    if settings.writes is not None and settings.writes > end:
        raise WriteampError(
            f"writes is {settings.writes}, but the workload {prepared.load_name} ends after {end} "
            "page writes; "
            f"give at most {end}, or a workload without end"
        )
    return replace(settings, writes=settings.writes or end)
