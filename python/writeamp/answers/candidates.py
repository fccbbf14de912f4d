"""Changes on a drive that is known by candidates: tried on all, and what they come to mixed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from writeamp.answers.case import Found
from writeamp.answers.chain import noise
from writeamp.answers.change import Advice, Change, Kind
from writeamp.answers.question import Question


@dataclass(frozen=True, eq=False)
class Tried:
    """A change that is tried on one of the candidates, by its number."""

    candidate: int
    kind: Kind
    change: Change

    @property
    def name(self) -> tuple[str, str]:
        """Kind and name of the change, the same on all candidates."""
        return self.kind.name, self.change.name


def simulated_questions(question: Question) -> dict[int, Question]:
    """Return the question of each candidate that can be such a drive; of any other, the one."""
    others = enumerate(question.others, 1)
    return {0: question} | {at: one for at, one in others if one.simulated is not None}


def best_of(
    question: Question,
    now: Mapping[int, Found],
    tried: Sequence[Tried],
    found: Mapping[int, Found | None],
) -> list[Advice]:
    """Return the best change of each kind, of those that were measured on all candidates.

    Args:
        question: what is asked.
        now: WA of each candidate without a change.
        tried: changes on candidates.
        found: what these come to, by their place; None of what cannot be.
    """
    cases: dict[tuple[str, str], dict[int, int]] = {}
    for at, one in enumerate(tried):
        cases.setdefault(one.name, {})[one.candidate] = at
    best: dict[str, Advice] = {}
    for (kind, _), places in cases.items():
        if 0 not in places or any(at not in found for at in places.values()):
            continue
        first, of_first = tried[places[0]].change, found[places[0]]
        if of_first is None or now[0].wa - of_first.wa <= noise(now[0], of_first):
            continue
        # A candidate that has what would be changed to stays as it is.
        of_all = {one: found[places[one]] if one in places else now[one] for one in now}
        known = {one: what for one, what in of_all.items() if what is not None}
        with_it = _mixed(question, known)
        if kind not in best or with_it.wa < best[kind].wa:
            without = _mixed(question, {one: now[one] for one in known})
            best[kind] = Advice(first.words, with_it.wa, with_it.ci, without.wa, first.costs)
    return sorted(best.values(), key=lambda one: one.wa)


def _mixed(question: Question, found: Mapping[int, Found]) -> Found:
    """Return the mixture of candidates; of one drive, what it comes to."""
    if not question.others:
        return found[0]
    mixture = question.mixed([(at, one, not math.isnan(one.ci[0])) for at, one in found.items()])
    return Found(mixture.wa, mixture.ci)
