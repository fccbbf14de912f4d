"""Answer of a question: all ways are asked, their differences measured, and changes tried."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from writeamp.answers.advice import KINDS
from writeamp.answers.case import Found, measured
from writeamp.answers.cause import Cause
from writeamp.answers.causes import CAUSES
from writeamp.answers.chain import Chain, Steps, chain_of, measure, noise, steps_of
from writeamp.answers.change import Advice, Change, Kind
from writeamp.answers.differences import agree, differences_of
from writeamp.answers.question import Question
from writeamp.answers.result import Answer
from writeamp.answers.row import WayRow
from writeamp.answers.way import Tell, Way
from writeamp.answers.ways import WAYS
from writeamp.errors import Interrupted, WriteampError
from writeamp.runners import local_runner


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


_QUICK_S = 10.0
# So many changes are told, each the best of its kind.
_TOLD = 3
_WHY, _LESS = "why rows differ", "what would make it less"


@dataclass
class Listener:
    """Listener of an answer in progress: rows as they come, and how far each part is."""

    row: Callable[[WayRow], None]
    tell: Tell


@dataclass
class Asking:
    """An answer in progress, of which everything that is there can be taken at any time."""

    question: Question
    rows: list[WayRow] = field(default_factory=list)
    chains: dict[str, Chain] = field(default_factory=dict)
    advice: list[Advice] = field(default_factory=list)
    left: list[str] = field(default_factory=list)

    def found(self) -> Answer:
        """Return what there is."""
        question = self.question
        lost = [sentence for chain in self.chains.values() for sentence in chain.lost]
        return Answer(
            load_name=question.plan.load_name,
            policy=str(question.policy),
            device=question.drive,
            rows=tuple(self.rows),
            differences=differences_of(self.rows, self.chains),
            advice=tuple(self.advice),
            held_pages=question.held_pages if self.rows else 0,
            missing=tuple(self.left),
            notes=tuple(dict.fromkeys([*question.notes, *lost])),
            simulated_run=question.simulated,
            mixture=question.mixture,
        )


def answered(
    question: Question,
    listener: Listener,
    *,
    ways: Sequence[Way] = WAYS,
    causes: Sequence[Cause] = CAUSES,
    kinds: Sequence[Kind] = KINDS,
) -> Answer:
    """Ask all ways, measure why they differ, and try what would make it less.

    Args:
        question: the drive and its load.
        listener: hears of rows as they come.
        ways: to ask.
        causes: of difference, in the order in which they are switched.
        kinds: of changes to try.

    Raises:
        Interrupted: Ctrl-C; `finished` is what there is.
    """
    asking = Asking(question, left=[*(one.name for one in ways), _WHY, _LESS])
    try:
        for way in ways:
            for row in _rows(question, way, listener.tell):
                asking.rows.append(row)
                listener.row(row)
            asking.left.remove(way.name)
        _explain(asking, causes, listener.tell)
        asking.left.remove(_WHY)
        _advise(asking, kinds, listener.tell)
        asking.left.remove(_LESS)
    except KeyboardInterrupt:
        raise Interrupted(asking.found() if asking.rows else None) from None
    return asking.found()


def _rows(question: Question, way: Way, tell: Tell) -> Iterable[WayRow]:
    if question.asked.quick and question.simulated is not None:
        expected_s = way.expected_s(question)
        if expected_s > _QUICK_S:
            reason = f"left out by --quick: it would take about {expected_s:.0f} s"
            return [WayRow.without(way.name, way.assumes, reason)]
    return way.rows(question, tell)


def _explain(asking: Asking, causes: Sequence[Cause], tell: Tell) -> None:
    """Measure the chain of each row that differs from the simulation by more than noise."""
    question = asking.question
    simulated = next((one for one in asking.rows if one.kind == "simulate"), None)
    if simulated is None:
        return
    known: dict[Steps, Found | str] = {}
    steps = {}
    for one in asking.rows:
        if one.answers and one is not simulated:
            found = steps_of(question, one, causes, is_alike=agree(one, simulated))
            seconds = len(found) * (one if one.kind == "timed" else simulated).seconds
            if question.asked.quick and seconds > _QUICK_S:
                question.notes.append(f"--quick leaves out why {one.way} differs: {seconds:.0f} s")
                continue
            steps[one.way] = found
    try:
        measure(
            [each for one in steps.values() for each in one],
            known,
            lambda done, of: tell(_WHY, done, of),
        )
    finally:
        for row in asking.rows:
            if row.way in steps:
                asking.chains[row.way] = chain_of(row, question.found, steps[row.way], known)


def _advise(asking: Asking, kinds: Sequence[Kind], tell: Tell) -> None:
    """Simulate the changes of each kind on the window, and keep the best of each."""
    question = asking.question
    if question.simulated is None:
        return
    began = time.perf_counter()
    questions = simulated_questions(question)
    now = {at: measured(one.windowed) for at, one in questions.items()}
    tried = [
        Tried(at, kind, change)
        for at, one in questions.items()
        for kind in kinds
        for change in kind.changes(one)
    ]
    seconds = (time.perf_counter() - began) / len(questions) * len(tried)
    if question.asked.quick and seconds > _QUICK_S:
        question.notes.append(f"--quick leaves out what would make it less: {seconds:.0f} s")
        return
    found: dict[int, Found | None] = {}
    for at, one in local_runner(len(tried)).results(_wa_with, [one.change for one in tried]):
        found[at] = one
        tell(_LESS, len(found), len(tried))
        asking.advice = best_of(question, now, tried, found)[:_TOLD]


def _wa_with(change: Change) -> Found | None:
    try:
        return measured(change.case)
    except WriteampError:  # a policy that such a drive or load refuses
        return None
