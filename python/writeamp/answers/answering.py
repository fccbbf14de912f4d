"""Answer of a question: all ways are asked, their differences measured, and changes tried."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from writeamp.answers.advice import KINDS, Advice, Change, KindOfChange
from writeamp.answers.case import MeasuredCase, run_case
from writeamp.answers.causes import CAUSES, Cause
from writeamp.answers.differences import (
    CauseChain,
    Steps,
    agree,
    chain_of,
    differences_of,
    measure,
    noise,
    steps_of,
)
from writeamp.answers.question import Question, SimulatedQuestion
from writeamp.answers.result import Answer
from writeamp.answers.way import Findings, Way, WayRow
from writeamp.answers.ways import WAYS
from writeamp.errors import Interrupted, WriteampError
from writeamp.runners import Progress, gather_whole, local_runner


@dataclass(frozen=True, eq=False)
class Tried:
    """A change that is tried on one of the candidates, by its number."""

    candidate: int
    kind: KindOfChange
    change: Change

    @property
    def name(self) -> tuple[str, str]:
        """Kind and name of the change, the same on all candidates."""
        return self.kind.name, self.change.name


def best_of(
    question: Question,
    now: Mapping[int, MeasuredCase],
    tried: Sequence[Tried],
    found: Mapping[int, MeasuredCase | None],
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
            best[kind] = Advice(
                first.words, with_it.wa, without.wa, first.costs, **with_it.as_fields
            )
    return sorted(best.values(), key=lambda one: one.wa)


def _mixed(question: Question, found: Mapping[int, MeasuredCase]) -> MeasuredCase:
    """Return the mixture of candidates; of one drive, what it comes to."""
    if not question.others:
        return found[0]
    mixture = question.mixed(
        [(at, one, not math.isnan(one.error_bar[0])) for at, one in found.items()]
    )
    return MeasuredCase.of(mixture)


_QUICK_S = 10.0
# So many changes are told, each the best of its kind.
_TOLD = 3
_WHY, _LESS = "why rows differ", "what would make it less"


@dataclass
class Listener:
    """Listener of an answer in progress: its rows, the parts that begin, and how far each is."""

    row: Callable[[WayRow], None]
    part: Callable[[str], None]
    progress: Progress


@dataclass
class Asking:
    """An answer in progress, whose finished parts can be taken at any time."""

    question: Question
    rows: list[WayRow] = field(default_factory=list)
    findings: Findings = field(default_factory=Findings)
    chains: dict[str, CauseChain] = field(default_factory=dict)
    advice: list[Advice] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    def add(self, row: WayRow) -> WayRow:
        """Keep a row and its findings apart, and return the row."""
        self.findings = self.findings.joined(row.findings)
        # A result must not hold the requests of all ways in memory.
        self.rows.append(replace(row, findings=Findings()))
        return self.rows[-1]

    def found(self) -> Answer:
        """Return the answer so far."""
        question, simulated = self.question, self.findings.simulated
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
            notes=tuple(
                dict.fromkeys([*question.notes, *self.findings.notes, *self.left_out, *lost])
            ),
            simulated_run=None if simulated is None else simulated.result,
            mixture=None if simulated is None else simulated.mixture,
        )


def answered(
    question: Question,
    listener: Listener,
    *,
    ways: Sequence[Way] = WAYS,
    causes: Sequence[Cause] = CAUSES,
    kinds: Sequence[KindOfChange] = KINDS,
) -> Answer:
    """Ask all ways, measure why they differ, and try changes that reduce WA.

    Args:
        question: the drive and its load.
        listener: is called with rows as they come.
        ways: to ask; those that need the simulation run after the others, whatever their order.
        causes: of difference, in the order in which they are switched.
        kinds: of changes to try.

    Raises:
        Interrupted: Ctrl-C; `finished` is what there is.
    """
    ordered = sorted(ways, key=lambda way: way.needs_simulation)
    asking = Asking(question, left=[*(one.name for one in ordered), _WHY, _LESS])
    try:
        for way in ordered:
            listener.part(way.name)
            for row in _rows(question, way, asking.findings, listener.progress):
                listener.row(asking.add(row))
            asking.left.remove(way.name)
        listener.part(_WHY)
        _explain(asking, causes, listener.progress)
        asking.left.remove(_WHY)
        listener.part(_LESS)
        _advise(asking, kinds, listener.progress)
        asking.left.remove(_LESS)
    except KeyboardInterrupt:
        raise Interrupted(asking.found() if asking.rows else None) from None
    return asking.found()


def _rows(question: Question, way: Way, findings: Findings, progress: Progress) -> Iterable[WayRow]:
    if way.needs_simulation and findings.simulated is None:
        reason = "it runs a part of the load as the simulation does, which was not asked for"
        return [WayRow.without(way.name, way.name, way.assumes, reason)]
    if question.settings.quick and findings.simulated is not None:
        expected_s = way.expected_s(question, findings)
        if expected_s > _QUICK_S:
            reason = f"left out by --quick: it would take about {expected_s:.0f} s"
            return [WayRow.without(way.name, way.name, way.assumes, reason)]
    return way.rows(question, findings, progress)


def _explain(asking: Asking, causes: Sequence[Cause], progress: Progress) -> None:
    """Measure the chain of each row that differs from the simulation by more than noise."""
    question, found = asking.question, asking.findings.simulated
    simulated = next((one for one in asking.rows if one.kind == "simulate"), None)
    if simulated is None or found is None:
        return
    known: dict[Steps, MeasuredCase | str] = {}
    steps = {}
    for one in asking.rows:
        if one.answers and one is not simulated:
            todo = steps_of(asking.findings, one, causes, is_alike=agree(one, simulated))
            seconds = len(todo) * (one if one.kind == "timed" else simulated).seconds
            if question.settings.quick and seconds > _QUICK_S:
                asking.left_out.append(f"--quick leaves out why {one.way} differs: {seconds:.0f} s")
                continue
            steps[one.way] = todo
    try:
        measure([each for one in steps.values() for each in one], known, progress)
    finally:
        for row in asking.rows:
            if row.way in steps:
                asking.chains[row.way] = chain_of(row, found.measured, steps[row.way], known)


def _advise(asking: Asking, kinds: Sequence[KindOfChange], progress: Progress) -> None:
    """Simulate the changes of each kind on the window, and keep the best of each."""
    question, first = asking.question, asking.findings.simulated
    if first is None:
        return
    began = time.perf_counter()
    candidates: dict[int, SimulatedQuestion] = {0: first, **first.others}
    now = {at: run_case(one.windowed) for at, one in candidates.items()}
    tried = [
        Tried(at, kind, change)
        for at, one in candidates.items()
        for kind in kinds
        for change in kind.changes(one)
    ]
    seconds = (time.perf_counter() - began) / len(candidates) * len(tried)
    if question.settings.quick and seconds > _QUICK_S:
        asking.left_out.append(f"--quick leaves out what would make it less: {seconds:.0f} s")
        return
    found: dict[int, MeasuredCase | None] = {}

    def keep(at: int, case: MeasuredCase | None) -> None:
        found[at] = case
        asking.advice = best_of(question, now, tried, found)[:_TOLD]

    gather_whole(
        local_runner(len(tried)),
        _wa_with,
        [one.change for one in tried],
        each=keep,
        progress=progress,
    )


def _wa_with(change: Change) -> MeasuredCase | None:
    try:
        return run_case(change.case)
    except WriteampError:  # a policy that such a drive or load refuses
        return None
