"""Comparison of managers and victim policies on workloads and traces (docs/compare.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

from writeamp.devices.device import Device
from writeamp.devices.policy import Policy
from writeamp.errors import Interrupted, PolicyError, WriteampError, placed
from writeamp.files.output import AnyPath
from writeamp.registry.specs import Spec
from writeamp.results.documents import from_document, to_document
from writeamp.runners import Progress, Runner, Shared, local_runner
from writeamp.runs.inputs import PreparedRun, prepare
from writeamp.runs.loads import writes_in_all
from writeamp.runs.meaning import meaning_of_run
from writeamp.runs.one_run import new_simulation
from writeamp.runs.plan import Plan, policies_of
from writeamp.runs.refusals import check_memory
from writeamp.runs.runner import drives_that_fit, run
from writeamp.runs.seeds import replica_seed
from writeamp.runs.simulation_result import Result
from writeamp.settings.compared import Combinations, PoliciesSettings
from writeamp.settings.experiment import Experiment
from writeamp.settings.settings import (
    ComparisonSettings,
    HeldTrace,
    LoadSettings,
    SimulationSettings,
    Warmup,
)
from writeamp.studies.capacity.scaled_experiment import ScaledExperiment, over_capacity
from writeamp.studies.compare.load import load_labels
from writeamp.studies.compare.of_candidates import compared_over_candidates
from writeamp.studies.compare.result import Comparison
from writeamp.studies.compare.row import Row, row_name
from writeamp.studies.simulation import plan_of
from writeamp.studies.study import DocumentCodec, RunFacts, RunStore, keep_runs

# Length of a run, in writes of the whole drive. It is the same for every manager, since the WA of a
# workload that changes over time depends on the length. Most schemes adapt to skewed workloads
# within this length; the second half of the run is measured.
DEFAULT_DRIVE_WRITES = 20


@dataclass(frozen=True)
class _Turn:
    """Run of a comparison: the index of its load, its policy, and its seed."""

    load: int
    policy: Policy
    seed: int
    name: str


# Plan and drive of each load. The plan is the one of the first run on that load.
_Bases: TypeAlias = tuple[tuple[Plan, Device], ...]


def run_comparison(
    experiment: Experiment,
    progress: Progress | None = None,
    runner: Runner | None = None,
    keep: AnyPath | None = None,
) -> Comparison:
    """Simulate a drive under each manager and victim policy, on each load.

    On a learnt profile, all probable candidate drives are simulated.

    Args:
        experiment: experiment to run.
        progress: called with the number of runs done and the total.
        runner: runner of the runs; by default threads of this process, as many as `threads`.
        keep: folder that stores each finished run; stored runs are not repeated.

    Raises:
        Interrupted: Ctrl-C; it carries a comparison of the finished managers, or None.
        WriteampError: a row failed; `finished` has a comparison of the other rows, or None. Or a
            row's drive cannot be built, which is checked before the first run.
    """

    def on_one_drive(
        store: RunStore, variant: Experiment, on_progress: Progress | None = None
    ) -> Comparison:
        return over_capacity(
            variant,
            lambda scaled, report: _compared(scaled, report, runner, store),
            _to_target,
            on_progress,
        )

    def compared(store: RunStore) -> Comparison:
        return compared_over_candidates(
            experiment,
            partial(on_one_drive, store),
            progress,
            at_once=runner is None and keep is None,
        )

    return keep_runs(keep, compared)


def _to_target(
    scaled: ScaledExperiment, comparison: Comparison, other: Comparison | None
) -> Comparison:
    """Return a comparison for the requested drive, with each row's scaling error."""
    # If `other` is complete, its rows are in the same order. Rows cannot be matched by name,
    # because the parameters of policies are scaled.
    others = [None] * len(comparison.rows) if other is None else other.rows
    rows = []
    for row, other_row in zip(comparison.rows, others, strict=True):
        results = tuple(
            replace(result, plan=scaled.target_plan(result.plan)) for result in row.results
        )
        manager = results[0].plan.policy.manager
        error = scaled.error(row, other_row)
        rows.append(replace(row, manager=manager, results=results, substitutes=(error,)))
    requested = scaled.requested
    names = _names(requested) if comparison.unfinished else ()
    return _without(names, replace(comparison, rows=tuple(rows)))


def _without(names: tuple[str, ...], comparison: Comparison) -> Comparison:
    """Return a comparison in which given names without a row are listed as `unfinished`."""
    finished = {row.name for row in comparison.rows}
    return replace(comparison, unfinished=tuple(name for name in names if name not in finished))


def _names(experiment: Experiment) -> tuple[str, ...]:
    """Return the names of all rows of a comparison of synthetic workloads."""
    loads = [_name_of(experiment_of_load.load) for experiment_of_load in experiment.with_each_load]
    return tuple(dict.fromkeys(turn.name for turn in _turns(experiment, loads)))


def _compared(
    experiment: Experiment, progress: Progress | None, runner: Runner | None, store: RunStore
) -> Comparison:
    bases = _bases(experiment)
    settings, notes = _settings(experiment), _combinations(experiment).notes
    turns = _turns(experiment, [plan.load_name for plan, _ in bases])
    _refuse_impossible(bases, turns)
    if runner is None:
        most = min(drives_that_fit(drive) for _, drive in bases)
        runner = local_runner(len(turns), min(settings.threads or len(turns), most))

    def comparison(results: Mapping[int, Result]) -> Comparison:
        with_plans = {
            index: replace(result, plan=_plan_of_turn(bases, turns[index]))
            for index, result in results.items()
        }
        return Comparison(_rows(experiment, turns, with_plans), policy_notes=notes)

    def partial_result(done: Mapping[int, Result | WriteampError]) -> Comparison | None:
        partial_comparison = comparison(_without_errors(done))
        names = tuple(dict.fromkeys(turn.name for turn in turns))
        return _without(names, partial_comparison) if partial_comparison.rows else None

    work = partial(_run_turn, Shared(bases, partial(_bases, experiment)))
    try:
        results = store.gather(
            _TurnCodec(bases),
            runner,
            work,
            turns,
            files=experiment.input_files,
            progress=progress,
        )
    except Interrupted as stopped:
        raise Interrupted(partial_result(stopped.finished)) from None
    done = dict(enumerate(results))
    for failed in results:
        if isinstance(failed, WriteampError):
            failed.finished = partial_result(done)
            raise failed
    return comparison(_without_errors(done))


def _without_errors(done: Mapping[int, Result | WriteampError]) -> dict[int, Result]:
    return {
        index: outcome for index, outcome in done.items() if not isinstance(outcome, WriteampError)
    }


def _refuse_impossible(bases: _Bases, turns: Sequence[_Turn]) -> None:
    """Build the drive of every row before the first run, so that impossible rows fail early."""
    rows = {turn.name: turn for turn in turns}
    for name, turn in rows.items():
        plan = _plan_of_turn(bases, turn)
        _, drive = bases[turn.load]
        try:
            check_memory("the drive needs", drive.geometry.bytes_needed(drive.logical_pages))
            new_simulation(plan, drive, turn.seed)
        except WriteampError as error:
            raise placed(name, error) from None


def _settings(experiment: Experiment) -> ComparisonSettings:
    assert isinstance(experiment.run, ComparisonSettings)
    return experiment.run


def _combinations(experiment: Experiment) -> Combinations:
    assert isinstance(experiment.policy, PoliciesSettings)
    return experiment.policy.combinations()


def _turns(experiment: Experiment, loads: Sequence[str]) -> list[_Turn]:
    """Return all runs of the comparison; runs of the same row are adjacent."""
    settings, with_victims = _settings(experiment), _combinations(experiment).with_victims
    return [
        _Turn(
            load,
            policy,
            replica_seed(settings.seed, replica),
            row_name(
                policy.manager,
                policy.victims if with_victims else None,
                name if len(loads) > 1 else None,
            ),
        )
        for load, name in enumerate(loads)
        for policy in policies_of(experiment.policy)
        for replica in range(settings.replicas)
    ]


def _bases(experiment: Experiment) -> _Bases:
    """Return, for each load, the plan of its first run and the drive of its runs."""
    by_load = experiment.with_each_load
    policy = policies_of(experiment.policy)[0]
    prepared = [
        _prepared(experiment_of_load, named=len(by_load) > 1) for experiment_of_load in by_load
    ]
    plans = [
        plan_of(
            prepared_run, experiment_of_load, policy, _one_run(prepared_run, experiment_of_load)
        )
        for prepared_run, experiment_of_load in zip(prepared, by_load, strict=True)
    ]
    if len(by_load) > 1:
        paths = [
            _name_of(experiment_of_load.load)
            for experiment_of_load in by_load
            if experiment_of_load.load.trace is not None
        ]
        names = [
            *(
                _name_of(experiment_of_load.load)
                for experiment_of_load in by_load
                if experiment_of_load.load.trace is None
            )
        ]
        names += load_labels(paths)  # workloads come first
        plans = [replace(plan, load_name=name) for plan, name in zip(plans, names, strict=True)]
    return tuple(
        (plan, prepared_run.drive) for plan, prepared_run in zip(plans, prepared, strict=True)
    )


def _prepared(experiment: Experiment, *, named: bool) -> PreparedRun:
    """Build the drive, and convert one load for it; with several loads, an error names the load."""
    try:
        return prepare(experiment)
    except WriteampError as error:
        name = _name_of(experiment.load)
        if not named or name in str(error):
            raise
        raise placed(name, error) from None


def _name_of(load: LoadSettings) -> str:
    """Return the workload of a load, or the path of its trace."""
    if isinstance(load.trace, HeldTrace):
        return load.trace.trace.path or "trace"
    return str(load.workload or "uniform") if load.trace is None else str(load.trace)


def _run_turn(shared: Shared[_Bases], turn: _Turn) -> Result | WriteampError:
    """Execute one run of a comparison on its load's drive; return its result without the trace.

    An error is returned instead of raised, so that the other rows are still run.
    """
    plan = _plan_of_turn(shared.value, turn)
    _, drive = shared.value[turn.load]
    try:
        result = run(plan, drive)
        return replace(result, plan=plan.without_requests())
    except PolicyError as error:  # its message names the policy already
        return error
    except WriteampError as error:
        return placed(turn.name, error)


class _TurnCodec(DocumentCodec[_Turn, Result | WriteampError]):
    """Storage of a comparison's runs; the key covers drive, load, policy, length and seed."""

    verb = "compare"

    def __init__(self, bases: _Bases) -> None:
        self._bases = bases

    def meaning(self, turn: _Turn) -> dict[str, Any]:
        return meaning_of_run(_plan_of_turn(self._bases, turn), self._bases[turn.load][1])

    def facts(self, turn: _Turn, result: Result | WriteampError) -> RunFacts:
        assert not isinstance(result, WriteampError), "errors are not stored"
        return RunFacts(turn.name, turn.seed, result.wa)

    def document(self, turn: _Turn, result: Result | WriteampError) -> Any:
        return to_document(result, without=("plan", "device"))

    def result(self, turn: _Turn, document: Any) -> Result | WriteampError:
        plan, drive = _plan_of_turn(self._bases, turn), self._bases[turn.load][1]
        return from_document(Result, document, plan=plan.without_requests(), device=drive)


def _plan_of_turn(bases: _Bases, turn: _Turn) -> Plan:
    plan, _ = bases[turn.load]
    return replace(plan, policy=turn.policy, run=replace(plan.run, seed=turn.seed))


def _one_run(prepared: PreparedRun, experiment: Experiment) -> SimulationSettings:
    """Return the settings of the runs of a load.

    All runs of a workload have the same length, and the second half is measured. A trace is run and
    judged as in `simulate`. For a recording, all its counted requests are measured.
    """
    settings = _settings(experiment)
    writes = settings.writes
    warmup: Warmup = "auto"
    if isinstance(prepared.load, Spec):
        if writes is None:
            end = writes_in_all(prepared.load)
            usual = DEFAULT_DRIVE_WRITES * prepared.drive.logical_pages
            writes = usual if end is None else min(usual, end)
        warmup = writes // 2
    elif prepared.is_recorded:
        warmup = 0
    return SimulationSettings(
        writes=writes,
        warmup=warmup,
        replicas=1,
        spread=False,
        batch_pages=settings.batch_pages,
    )


def _rows(
    experiment: Experiment, turns: Sequence[_Turn], results: Mapping[int, Result]
) -> tuple[Row, ...]:
    """Return the rows for which all replicas have a result."""
    replicas = _settings(experiment).replicas
    with_victims = _combinations(experiment).with_victims
    with_load = turns[-1].load > 0
    rows = []
    for first in range(0, len(turns), replicas):
        places = range(first, first + replicas)
        if all(place in results for place in places):
            row_results = tuple(results[place] for place in places)
            manager = turns[first].policy.manager
            rows.append(Row(manager, row_results, with_victims=with_victims, with_load=with_load))
    return tuple(rows)
