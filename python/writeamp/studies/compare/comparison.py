"""Many block managers and victim policies on workloads and traces (docs/compare.md)."""

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

# The same for every manager, or a workload that changes would be another one for each; enough for
# most schemes to learn what is hot on skewed workloads, the second half of it measured.
DEFAULT_DRIVE_WRITES = 20


@dataclass(frozen=True)
class _Turn:
    """One run of a comparison, by its load (a number), policy and seed."""

    load: int
    policy: Policy
    seed: int
    name: str


# The plan and the drive of each load, the first turn of each.
_Bases: TypeAlias = tuple[tuple[Plan, Device], ...]


def run_comparison(
    experiment: Experiment,
    progress: Progress | None = None,
    runner: Runner | None = None,
    keep: AnyPath | None = None,
) -> Comparison:
    """Simulate a drive under each manager and victim policy, on each load.

    Of a learnt profile, all drives that carry its weight are simulated.

    Args:
        experiment: what to do.
        progress: called with the runs done and in all.
        runner: who does the runs; by default threads of this process, as many as `threads` says.
        keep: a folder that keeps each finished run; runs that it holds are not done again.

    Raises:
        Interrupted: Ctrl-C, with a comparison of the managers that were finished, or None.
        WriteampError: a row failed, with a comparison of the others in `finished`, or None; or
            one cannot be, which is said before the first runs.
    """

    def on_one_drive(kept: RunStore, asked: Experiment, tell: Progress | None = None) -> Comparison:
        return over_capacity(
            asked, lambda one, report: _compared(one, report, runner, kept), _restated, tell
        )

    def compared(kept: RunStore) -> Comparison:
        return compared_over_candidates(
            experiment,
            partial(on_one_drive, kept),
            progress,
            at_once=runner is None and keep is None,
        )

    return keep_runs(keep, compared)


def _restated(scaled: ScaledExperiment, found: Comparison, other: Comparison | None) -> Comparison:
    """Return a comparison said of the drive that is requested, with the error of each row."""
    # In the same order, if all are there; each is named by what it was scaled to.
    others = [None] * len(found.rows) if other is None else other.rows
    rows = []
    for row, beside in zip(found.rows, others, strict=True):
        results = tuple(
            replace(result, plan=scaled.target_plan(result.plan)) for result in row.results
        )
        manager = results[0].plan.policy.manager
        error = scaled.error(row, beside)
        rows.append(replace(row, manager=manager, results=results, substitutes=(error,)))
    asked = scaled.requested
    names = _names(asked) if found.unfinished else ()
    return _without(names, replace(found, rows=tuple(rows)))


def _without(asked: tuple[str, ...], found: Comparison) -> Comparison:
    """Return a comparison with those names unfinished, of all asked for, that have no row."""
    finished = {row.name for row in found.rows}
    return replace(found, unfinished=tuple(name for name in asked if name not in finished))


def _names(experiment: Experiment) -> tuple[str, ...]:
    """Return the names of all rows of a comparison of workloads."""
    loads = [_name_of(one.load) for one in experiment.with_each_load]
    return tuple(dict.fromkeys(turn.name for turn in _turns(experiment, loads)))


def _compared(
    experiment: Experiment, progress: Progress | None, runner: Runner | None, kept: RunStore
) -> Comparison:
    bases = _bases(experiment)
    settings, notes = _settings(experiment), _combinations(experiment).notes
    turns = _turns(experiment, [plan.load_name for plan, _ in bases])
    _refuse_impossible(bases, turns)
    if runner is None:
        most = min(drives_that_fit(drive) for _, drive in bases)
        runner = local_runner(len(turns), min(settings.threads or len(turns), most))

    def comparison(results: Mapping[int, Result]) -> Comparison:
        whole = {
            at: replace(result, plan=_plan_of_turn(bases, turns[at]))
            for at, result in results.items()
        }
        return Comparison(_rows(experiment, turns, whole), policy_notes=notes)

    def part(done: Mapping[int, Result | WriteampError]) -> Comparison | None:
        found = comparison(_without_errors(done))
        asked = tuple(dict.fromkeys(turn.name for turn in turns))
        return _without(asked, found) if found.rows else None

    work = partial(_run_turn, Shared(bases, partial(_bases, experiment)))
    try:
        results = kept.gather(
            _KeepTurns(bases),
            runner,
            work,
            turns,
            files=experiment.input_files,
            progress=progress,
        )
    except Interrupted as stopped:
        raise Interrupted(part(stopped.finished)) from None
    done = dict(enumerate(results))
    for failed in results:
        if isinstance(failed, WriteampError):
            failed.finished = part(done)
            raise failed
    return comparison(_without_errors(done))


def _without_errors(done: Mapping[int, Result | WriteampError]) -> dict[int, Result]:
    return {at: one for at, one in done.items() if not isinstance(one, WriteampError)}


def _refuse_impossible(bases: _Bases, turns: Sequence[_Turn]) -> None:
    """Build the drive of every row before the first runs: an impossible one would end them all."""
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
    """Return the runs, those of a row after each other."""
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
    """Return each load's plan, that of its first run, and the drive of all its runs."""
    alone = experiment.with_each_load
    policy = policies_of(experiment.policy)[0]
    prepared = [_prepared(one, named=len(alone) > 1) for one in alone]
    plans = [
        plan_of(found, one, policy, _one_run(found, one))
        for found, one in zip(prepared, alone, strict=True)
    ]
    if len(alone) > 1:
        paths = [_name_of(one.load) for one in alone if one.load.trace is not None]
        names = [*(_name_of(one.load) for one in alone if one.load.trace is None)]
        names += load_labels(paths)  # workloads stand first
        plans = [replace(plan, load_name=name) for plan, name in zip(plans, names, strict=True)]
    return tuple((plan, found.drive) for plan, found in zip(plans, prepared, strict=True))


def _prepared(experiment: Experiment, *, named: bool) -> PreparedRun:
    """Return the drive and load of one of several loads; an error names the load."""
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
    """Run one run of a comparison on its load's drive; traces do not travel with the result.

    An error is returned, so that the other rows are finished beside it.
    """
    plan = _plan_of_turn(shared.value, turn)
    _, drive = shared.value[turn.load]
    try:
        found = run(plan, drive)
        return replace(found, plan=plan.without_requests())
    except PolicyError as error:  # which names the policy itself
        return error
    except WriteampError as error:
        return placed(turn.name, error)


class _KeepTurns(DocumentCodec[_Turn, Result | WriteampError]):
    """Keeping of a comparison's runs: each means its drive, load, policy, length and seed."""

    verb = "compare"

    def __init__(self, bases: _Bases) -> None:
        self._bases = bases

    def meaning(self, turn: _Turn) -> dict[str, Any]:
        return meaning_of_run(_plan_of_turn(self._bases, turn), self._bases[turn.load][1])

    def facts(self, turn: _Turn, result: Result | WriteampError) -> RunFacts:
        assert not isinstance(result, WriteampError), "which is not kept"
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
    """Return the run settings of each drive: as long as the others, the second half measured.

    A trace is run and judged as `simulate` does it; of a recording, all that counted is measured.
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
    """Return the rows all of whose replicas have a result."""
    replicas = _settings(experiment).replicas
    with_victims = _combinations(experiment).with_victims
    with_load = turns[-1].load > 0
    rows = []
    for first in range(0, len(turns), replicas):
        places = range(first, first + replicas)
        if all(place in results for place in places):
            found = tuple(results[place] for place in places)
            manager = turns[first].policy.manager
            rows.append(Row(manager, found, with_victims=with_victims, with_load=with_load))
    return tuple(rows)
