"""Comparison on a learnt profile: every manager on all candidate drives.

Each compared manager replaces the candidate's own. The candidate keeps its op, its erase unit, and
its victim policy if the manager supports it. Each row is the mixture of the candidates' results.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from writeamp.devices.candidates import Candidate, Candidates
from writeamp.errors import WriteampError
from writeamp.registry.specs import Spec
from writeamp.runners import Here, Progress, Runner, local_runner
from writeamp.settings.compared import Combinations, PoliciesSettings
from writeamp.settings.experiment import Experiment
from writeamp.settings.learnt import replaced_by
from writeamp.studies.candidates import alone, most_at_once
from writeamp.studies.compare.omitted import NoRowFitsError, OmittedRow
from writeamp.studies.compare.result import Comparison
from writeamp.studies.compare.row import Row
from writeamp.studies.mixture import CandidateRun, Mixture, OfCandidates
from writeamp.studies.over import Outcomes, Run, over, succeeded

_R = TypeVar("_R", Row, OmittedRow)


@dataclass(frozen=True)
class _Pair:
    """A manager and a victim policy, with all candidate drives that use them."""

    candidates: Candidates
    experiments: tuple[Experiment, ...]


def compared_over_candidates(
    experiment: Experiment, compare: Run[Comparison], progress: Progress | None, *, at_once: bool
) -> Comparison:
    """Return a comparison; on a learnt profile, run each manager on all candidates.

    Args:
        experiment: experiment to run.
        compare: runs a comparison on one drive.
        progress: called with the number of candidates done, over all pairs, and the total.
        at_once: whether to run several candidates at a time, each on one thread.

    Raises:
        WriteampError: a row failed, or no candidate supports its manager; `finished` has the
            others.
        Interrupted: Ctrl-C.
    """
    if experiment.candidates is None:
        return compare(experiment, progress)
    policy = experiment.policy
    assert isinstance(policy, PoliciesSettings)
    combinations = policy.combinations()
    pairs = [_pair(experiment, manager, victims) for manager, victims in combinations.pairs]
    variants = [variant for pair in pairs for variant in pair.experiments]
    runner: Runner = Here()
    if at_once:
        runner = local_runner(len(variants), most=most_at_once(variants[0].with_each_load[0]))
        variants = [variant.with_settings(threads=1) for variant in variants]
    combine = partial(_combined, experiment, combinations, pairs)
    # A row needs the results of all candidates. If a folder is given, finished runs are stored
    # there.
    return over(variants, combine, compare, progress, runner=runner, outlasted=WriteampError)


def _combined(
    experiment: Experiment,
    combinations: Combinations,
    pairs: Sequence[_Pair],
    outcomes: Outcomes[Comparison],
) -> Comparison:
    comparisons, failed, first = [], None, 0
    for number, pair in enumerate(pairs):
        outcomes_of_pair = outcomes[first : first + len(pair.experiments)]
        first += len(outcomes_of_pair)
        try:
            comparisons.append((number, _mixed(experiment, pair, succeeded(outcomes_of_pair))))
        except NoRowFitsError as refused:
            comparisons.append((number, Comparison((), omitted=refused.omitted)))
        except WriteampError as failure:
            failed = failed or failure

    def in_order(numbered: Iterable[tuple[int, _R]]) -> tuple[_R, ...]:
        # Each comparison is of one pair, so a place in it is the index of a load.
        return tuple(
            replace(
                row,
                with_load=len(experiment.with_each_load) > 1,
                with_victims=combinations.with_victims,
                place=row.place * len(pairs) + number,
            )
            for number, row in sorted(numbered, key=lambda pair: (pair[1].place, pair[0]))
        )

    rows = in_order((number, row) for number, of_pair in comparisons for row in of_pair.rows)
    omitted = in_order((number, row) for number, of_pair in comparisons for row in of_pair.omitted)
    if not rows and failed is None:
        raise NoRowFitsError(omitted)
    notes = (*combinations.notes, *_notes(experiment))
    comparison = Comparison(rows, policy_notes=notes, omitted=omitted)
    if failed is not None:
        failed.finished = comparison if rows else None
        raise failed
    return comparison


def _pair(experiment: Experiment, manager: Spec, victims: Spec | None) -> _Pair:
    policies = {"manager": manager, "victims": victims}
    candidates = replaced_by(experiment.candidates, policies)
    assert candidates is not None
    return _Pair(
        candidates,
        tuple(alone(experiment, candidates, candidate) for candidate in candidates.carrying),
    )


def _mixed(
    experiment: Experiment, pair: _Pair, results: Sequence[tuple[int, Comparison]]
) -> Comparison:
    """Return a row for each load, with the WA of the mixture of candidates.

    A candidate that cannot run a load is left out of that load's mixture.
    """
    rows: dict[int, list[tuple[int, Row]]] = {}
    for number, comparison in results:
        for row in comparison.rows:
            rows.setdefault(row.place, []).append((number, row))
    mixed = []
    for _, of_place in sorted(rows.items()):
        row = of_place[0][1]
        mixture = Mixture(
            profile=str(experiment.device.profile),
            load_name=row.workload,
            runs=tuple(
                _of_row(pair.candidates.carrying[number], of_candidate)
                for number, of_candidate in of_place
            ),
            error=pair.candidates.error,
            sequential_factor=pair.candidates.sequential_factor,
        )
        mixed.append(replace(row, substitutes=(*row.substitutes, OfCandidates(mixture))))
    omitted = {
        row.place: row
        for _, comparison in reversed(results)
        for row in comparison.omitted
        if row.place not in rows
    }
    return Comparison(tuple(mixed), omitted=tuple(omitted.values()))


def _of_row(candidate: Candidate, row: Row) -> CandidateRun:
    low, high = row.error_bar
    candidate_with_victims = replace(candidate, victims=row.victims)
    return CandidateRun(candidate_with_victims, row.wa, (high - low) / 2, row.steady)


def _notes(experiment: Experiment) -> tuple[str, ...]:
    assert experiment.candidates is not None
    return (
        f"{experiment.device.profile} was learnt from a drive: WA is that of its most probable "
        "candidates under each manager; causes, wear, memory and theory are those of the "
        "most probable one",
    )
