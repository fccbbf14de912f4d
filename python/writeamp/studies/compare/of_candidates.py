"""Comparison on a drive that is known by candidates: every manager on all that it may be.

A manager takes the place of each candidate's own, which keeps its op, erase unit and victims where
the manager chooses by them. Each row is the mixture of what the candidates come to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from writeamp.devices.candidates import Candidate, Candidates
from writeamp.errors import WriteampError
from writeamp.registry.specs import Spec
from writeamp.runners import Here, Progress, Runner, local_runner
from writeamp.settings.compared import Combinations, PoliciesSettings
from writeamp.settings.experiment import Experiment
from writeamp.settings.learnt import replaced_by
from writeamp.studies.candidates import alone, most_at_once
from writeamp.studies.compare.result import Comparison
from writeamp.studies.compare.row import Row
from writeamp.studies.mixture import CandidateRun, Mixture, OfCandidates
from writeamp.studies.over import Found, Run, over, succeeded


@dataclass(frozen=True)
class _Pair:
    """A manager and a victim policy, and the candidates under them."""

    candidates: Candidates
    experiments: tuple[Experiment, ...]


def compared_over_candidates(
    experiment: Experiment, compare: Run[Comparison], progress: Progress | None, *, at_once: bool
) -> Comparison:
    """Return a comparison; on a learnt profile, of each manager over all candidates.

    Args:
        experiment: what to do.
        compare: compares on one drive.
        progress: called with the candidates of all pairs that are done, and how many there are.
        at_once: run several candidates at a time, each on one thread.

    Raises:
        WriteampError: a row failed, or no candidate can be under it; `finished` has the others.
        Interrupted: Ctrl-C.
    """
    if experiment.candidates is None:
        return compare(experiment, progress)
    policy = experiment.policy
    assert isinstance(policy, PoliciesSettings)
    asked = policy.combinations()
    pairs = [_pair(experiment, manager, victims) for manager, victims in asked.pairs]
    variants = [one for pair in pairs for one in pair.experiments]
    runner: Runner = Here()
    if at_once:
        runner = local_runner(len(variants), most=most_at_once(variants[0].with_each_load[0]))
        variants = [one.with_settings(threads=1) for one in variants]
    combine = partial(_combined, experiment, asked, pairs)
    # Each row needs all its candidates; those that were run are in the folder, if there is one.
    return over(variants, combine, compare, progress, runner=runner, outlasted=WriteampError)


def _combined(
    experiment: Experiment, asked: Combinations, pairs: Sequence[_Pair], found: Found[Comparison]
) -> Comparison:
    of_pairs, failed, at = [], None, 0
    for pair in pairs:
        own = found[at : at + len(pair.experiments)]
        at += len(own)
        try:
            of_pairs.append(_mixed(experiment, pair, succeeded(own)))
        except WriteampError as failure:
            failed = failed or failure
    several = len(experiment.with_each_load) > 1
    rows = tuple(
        replace(row, with_load=several, with_victims=asked.with_victims)
        for of_load in zip(*of_pairs, strict=True)
        for row in of_load
    )
    whole = Comparison(rows, policy_notes=(*asked.notes, *_notes(experiment)))
    if failed is not None:
        failed.finished = whole if rows else None
        raise failed
    return whole


def _pair(experiment: Experiment, manager: Spec, victims: Spec | None) -> _Pair:
    given = {"manager": manager, "victims": victims}
    candidates = replaced_by(experiment.candidates, given)
    assert candidates is not None
    return _Pair(
        candidates,
        tuple(alone(experiment, candidates, one) for one in candidates.carrying),
    )


def _mixed(
    experiment: Experiment, pair: _Pair, found: Sequence[tuple[int, Comparison]]
) -> list[Row]:
    """Return a row for each load, whose WA is that of the mixture."""
    of_best = found[0][1]
    rows = []
    for at, row in enumerate(of_best.rows):
        mixture = Mixture(
            profile=str(experiment.device.profile),
            load_name=row.workload,
            runs=tuple(
                _of_row(pair.candidates.carrying[number], comparison.rows[at])
                for number, comparison in found
            ),
            error=pair.candidates.error,
        )
        rows.append(replace(row, substitutes=(*row.substitutes, OfCandidates(mixture))))
    return rows


def _of_row(one: Candidate, row: Row) -> CandidateRun:
    low, high = row.error_bar
    victims = replace(one, victims=row.victims)
    return CandidateRun(victims, row.wa, (high - low) / 2, row.steady)


def _notes(experiment: Experiment) -> tuple[str, ...]:
    assert experiment.candidates is not None
    return (
        f"{experiment.device.profile} was learnt from a drive: WA is that of its most probable "
        "candidates under each manager; causes, wear, memory and theory are of the first of them",
    )
