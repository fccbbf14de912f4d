"""Comparison on a drive that is known by candidates: every manager on all that it may be.

A manager takes the place of each candidate's own, which keeps its op, erase unit and victims where
the manager chooses by them. Each row is the mixture of what the candidates come to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

from writeamp.devices.candidates import Candidate, Candidates
from writeamp.errors import Interrupted, RefusedError, WriteampError
from writeamp.registry.specs import Spec
from writeamp.runners import Here, Progress, Runner, gather, local_runner
from writeamp.settings.compared import PoliciesSettings
from writeamp.settings.experiment import Experiment
from writeamp.settings.learnt import replaced_by
from writeamp.studies.candidates import alone, most_at_once
from writeamp.studies.compare.result import Comparison
from writeamp.studies.compare.row import Row
from writeamp.studies.mixture import CandidateRun, Mixture

_Compare: TypeAlias = Callable[[Experiment], Comparison]
_Found: TypeAlias = Comparison | WriteampError


@dataclass(frozen=True)
class _Pair:
    """A manager and a victim policy, and the candidates under them."""

    candidates: Candidates
    experiments: tuple[Experiment, ...]


def compared_candidates(
    experiment: Experiment, compare: _Compare, progress: Progress | None, *, at_once: bool
) -> Comparison:
    """Return the comparison of each manager over all candidates that carry the weight.

    Args:
        experiment: what to do, on a drive that is known by candidates.
        compare: compares on one drive.
        progress: called with the candidates of all pairs that are done, and how many there are.
        at_once: run several candidates at a time, each on one thread.

    Raises:
        WriteampError: a row failed, or no candidate can be under it; `finished` has the others.
        Interrupted: Ctrl-C.
    """
    policy = experiment.policy
    assert isinstance(policy, PoliciesSettings)
    asked = policy.combinations()
    pairs = [_pair(experiment, manager, victims) for manager, victims in asked.pairs]
    jobs = [one for pair in pairs for one in pair.experiments]
    runner: Runner = Here()
    if at_once:
        runner = local_runner(len(jobs), most=most_at_once(jobs[0].with_each_load[0]))
        jobs = [one.with_settings(threads=1) for one in jobs]
    try:
        found = gather(runner, partial(_run, compare), jobs, progress=progress)
    except Interrupted:
        # Each row needs all its candidates; those that were run are in the folder, if there is one.
        raise Interrupted(None) from None
    of_pairs, failed, at = [], None, 0
    for pair in pairs:
        own = found[at : at + len(pair.experiments)]
        at += len(own)
        failure = _failure(own)
        failed = failed or failure
        if failure is None:
            of_pairs.append(_mixed(experiment, pair, own))
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


def _run(compare: _Compare, experiment: Experiment) -> _Found:
    try:
        return compare(experiment)
    except WriteampError as error:
        return error


def _failure(found: Sequence[_Found]) -> WriteampError | None:
    """Return why a pair has no row: a candidate failed, or none can be such a drive.

    A candidate that cannot be a drive of this size, or under this manager, is left out.
    """
    errors = [one for one in found if isinstance(one, WriteampError)]
    failures = [one for one in errors if not isinstance(one, RefusedError)]
    if len(errors) == len(found):
        failures += errors
    return failures[0] if failures else None


def _mixed(experiment: Experiment, pair: _Pair, found: Sequence[_Found]) -> list[Row]:
    """Return a row for each load, whose WA is that of the mixture."""
    known = [
        (one, comparison)
        for one, comparison in zip(pair.candidates.carrying, found, strict=True)
        if not isinstance(comparison, WriteampError)
    ]
    of_best = known[0][1]
    rows = []
    for at, row in enumerate(of_best.rows):
        mixture = Mixture(
            profile=str(experiment.device.profile),
            load_name=row.workload,
            runs=tuple(_of_row(one, comparison.rows[at]) for one, comparison in known),
            error=pair.candidates.error,
        )
        rows.append(replace(row, mixture=mixture))
    return rows


def _of_row(one: Candidate, row: Row) -> CandidateRun:
    low, high = row.ci
    victims = replace(one, victims=row.victims)
    return CandidateRun(victims, row.wa, (high - low) / 2, row.steady)


def _notes(experiment: Experiment) -> tuple[str, ...]:
    assert experiment.candidates is not None
    return (
        f"{experiment.device.profile} was learnt from a drive: WA is that of its most probable "
        "candidates under each manager; causes, wear, memory and theory are of the first of them",
    )
