"""Comparison of managers and victim policies on workloads and traces (docs/compare.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from writeamp.errors import Interrupted, PolicyError, RefusedError, WriteampError, placed
from writeamp.registry.specs import Spec
from writeamp.runners import Progress, Runner, Shared, local_runner
from writeamp.runs.inputs import PreparedRun, prepare
from writeamp.runs.loads import writes_in_all
from writeamp.runs.plan import policies_of, used_pages
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
from writeamp.studies.compare.omitted import NoRowFitsError, OmittedRow
from writeamp.studies.compare.result import Comparison
from writeamp.studies.compare.row import Row, row_name
from writeamp.studies.compare.turns import Bases, Turn, TurnCodec, plan_of_turn
from writeamp.studies.shards import Keep
from writeamp.studies.simulation import plan_of
from writeamp.studies.study import RunStore, keep_runs
from writeamp.studies.working_op import reason_and_op, refusal

# Length of a run, in writes of the whole drive. It is the same for every manager, since the WA of a
# workload that changes over time depends on the length. Most schemes adapt to skewed workloads
# within this length; the second half of the run is measured.
DEFAULT_DRIVE_WRITES = 20


# Result or error of each finished run, by its index.
_Outcomes: TypeAlias = Mapping[int, Result | WriteampError]


def run_comparison(
    experiment: Experiment,
    progress: Progress | None = None,
    runner: Runner | None = None,
    keep: Keep | None = None,
) -> Comparison:
    """Simulate a drive under each manager and victim policy, on each load.

    On a learnt profile, all probable candidate drives are simulated.

    Args:
        experiment: experiment to run.
        progress: called with the number of runs done and the total.
        runner: runner of the runs; by default threads of this process, as many as `threads`.
        keep: folder that stores each finished run; stored runs are not repeated. Or several
            folders: runs in the others are copied to the first.

    Raises:
        Interrupted: Ctrl-C; it carries a comparison of the finished managers, or None.
        WriteampError: a row failed; `finished` has a comparison of the other rows, or None. Or no
            row can run on the drive, which is checked before the first run.
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
    # Rows cannot be matched by name, because the parameters of policies are scaled.
    others = {} if other is None else {row.place: row for row in other.rows}
    rows = []
    for row in comparison.rows:
        results = tuple(
            replace(result, plan=scaled.target_plan(result.plan)) for result in row.results
        )
        manager = results[0].plan.policy.manager
        error = scaled.error(row, others.get(row.place))
        rows.append(replace(row, manager=manager, results=results, substitutes=(error,)))
    omitted = tuple(replace(row, plan=scaled.target_plan(row.plan)) for row in comparison.omitted)
    requested = scaled.requested
    names = _names(requested) if comparison.unfinished else ()
    return _without(names, replace(comparison, rows=tuple(rows), omitted=omitted))


def _without(names: tuple[str, ...], comparison: Comparison) -> Comparison:
    """Return a comparison in which given names without a row are listed as `unfinished`."""
    finished = {row.name for row in comparison.rows} | {row.name for row in comparison.omitted}
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
    with_victims = _combinations(experiment).with_victims
    requested = _turns(experiment, [plan.load_name for plan, _ in bases])
    impossible = _impossible(experiment, bases, requested)
    turns = [turn for turn in requested if turn.place not in impossible]
    if not turns:
        raise NoRowFitsError(tuple(impossible.values()))
    if runner is None:
        most = min(drives_that_fit(drive) for _, drive in bases)
        runner = local_runner(len(turns), min(settings.threads or len(turns), most))

    def comparison(outcomes: _Outcomes) -> Comparison:
        with_plans = {
            index: replace(outcome, plan=plan_of_turn(bases, turns[index]))
            for index, outcome in outcomes.items()
            if not isinstance(outcome, WriteampError)
        }
        rows = _rows(experiment, turns, with_plans)
        omitted = impossible | _refused(bases, turns, outcomes, with_victims=with_victims)
        return Comparison(
            rows, policy_notes=notes, omitted=tuple(omitted[place] for place in sorted(omitted))
        )

    def partial_result(outcomes: _Outcomes) -> Comparison | None:
        partial_comparison = comparison(outcomes)
        names = tuple(dict.fromkeys(turn.name for turn in turns))
        return _without(names, partial_comparison) if partial_comparison.rows else None

    work = partial(_run_turn, Shared(bases, partial(_bases, experiment)))
    try:
        results = store.gather(
            TurnCodec(bases),
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
        if isinstance(failed, WriteampError) and not isinstance(failed, RefusedError):
            failed.finished = partial_result(done)
            raise failed
    whole = comparison(done)
    if not whole.rows:
        raise NoRowFitsError(whole.omitted)
    return whole


def _refused(
    bases: Bases, turns: Sequence[Turn], outcomes: _Outcomes, *, with_victims: bool
) -> dict[int, OmittedRow]:
    """Return the rows of which a run was refused after its drive was built, by place."""
    return {
        turns[index].place: _omitted(
            bases, turns[index], str(outcome), None, with_victims=with_victims
        )
        for index, outcome in sorted(outcomes.items())
        if isinstance(outcome, RefusedError)
    }


def _omitted(
    bases: Bases, turn: Turn, reason: str, working_op: float | None, *, with_victims: bool
) -> OmittedRow:
    plan = plan_of_turn(bases, turn).without_requests()
    return OmittedRow(plan, turn.place, reason, working_op, with_victims, len(bases) > 1)


def _impossible(
    experiment: Experiment, bases: Bases, turns: Sequence[Turn]
) -> dict[int, OmittedRow]:
    """Build the drive of every row before the first run; return rows that cannot run, by place."""
    loads, with_victims = experiment.with_each_load, _combinations(experiment).with_victims
    rows = {turn.place: turn for turn in turns}
    omitted = {}
    for place, turn in rows.items():
        plan = plan_of_turn(bases, turn)
        _, drive = bases[turn.load]
        try:
            error = refusal(plan, drive, turn.seed)
        except WriteampError as failed:
            raise placed(turn.name, failed) from None
        if error is not None:
            reason, working = reason_and_op(error, loads[turn.load], plan, drive.op, turn.seed)
            omitted[place] = _omitted(bases, turn, reason, working, with_victims=with_victims)
    return omitted


def _settings(experiment: Experiment) -> ComparisonSettings:
    assert isinstance(experiment.run, ComparisonSettings)
    return experiment.run


def _combinations(experiment: Experiment) -> Combinations:
    assert isinstance(experiment.policy, PoliciesSettings)
    return experiment.policy.combinations()


def _turns(experiment: Experiment, loads: Sequence[str]) -> list[Turn]:
    """Return all runs of the comparison; runs of the same row are adjacent."""
    settings, with_victims = _settings(experiment), _combinations(experiment).with_victims
    policies = policies_of(experiment.policy)
    return [
        Turn(
            load,
            policy,
            replica_seed(settings.seed, replica),
            load * len(policies) + index,
            row_name(
                policy.manager,
                policy.victims if with_victims else None,
                name if len(loads) > 1 else None,
            ),
        )
        for load, name in enumerate(loads)
        for index, policy in enumerate(policies)
        for replica in range(settings.replicas)
    ]


def _bases(experiment: Experiment) -> Bases:
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


def _run_turn(shared: Shared[Bases], turn: Turn) -> Result | WriteampError:
    """Execute one run of a comparison on its load's drive; return its result without the trace.

    An error is returned instead of raised, so that the other rows are still run.
    """
    plan = plan_of_turn(shared.value, turn)
    _, drive = shared.value[turn.load]
    try:
        result = run(plan, drive)
        return replace(result, plan=plan.without_requests())
    except (PolicyError, RefusedError) as error:
        # The message of the first names the policy already; the other is the reason of its row.
        return error
    except WriteampError as error:
        return placed(turn.name, error)


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
            used = used_pages(prepared.load, experiment.load, prepared.drive)
            end = writes_in_all(prepared.load, used, prepared.drive)
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
    experiment: Experiment, turns: Sequence[Turn], results: Mapping[int, Result]
) -> tuple[Row, ...]:
    """Return the rows for which all replicas have a result."""
    replicas = _settings(experiment).replicas
    with_victims = _combinations(experiment).with_victims
    with_load = len(experiment.with_each_load) > 1
    rows = []
    for first in range(0, len(turns), replicas):
        places = range(first, first + replicas)
        if all(place in results for place in places):
            row_results = tuple(results[place] for place in places)
            turn = turns[first]
            rows.append(
                Row(
                    turn.policy.manager,
                    row_results,
                    with_victims=with_victims,
                    with_load=with_load,
                    place=turn.place,
                )
            )
    return tuple(rows)
