"""Answer a question: run all sources, measure why they differ, and try changes."""

from __future__ import annotations

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
from writeamp.runs.substitute import NO_SUBSTITUTE, Substitute
from writeamp.text import Caution


@dataclass(frozen=True, eq=False)
class Tried:
    """A change to try on a candidate (possible drive of a learnt profile), given by its number."""

    candidate: int
    kind: KindOfChange
    change: Change

    @property
    def name(self) -> tuple[str, str]:
        """Kind and name of the change, which are the same for all candidates."""
        return self.kind.name, self.change.name


def best_of(
    question: Question,
    now: Mapping[int, MeasuredCase],
    tried: Sequence[Tried],
    changed: Mapping[int, MeasuredCase | None],
    scaling: Substitute = NO_SUBSTITUTE,
) -> list[Advice]:
    """Return the best change of each kind, among changes that were measured on all candidates.

    Args:
        question: the drive and its load.
        now: WA of each candidate without a change.
        tried: changes on candidates.
        changed: WA with each change, by its index in `tried`; None for an impossible change.
        scaling: relation of the drive to the requested one; its error widens the intervals.

    Returns:
        Changes that reduce WA of the most probable candidate by more than noise, lowest WA first.
    """
    cases: dict[tuple[str, str], dict[int, int]] = {}
    for index, trial in enumerate(tried):
        cases.setdefault(trial.name, {})[trial.candidate] = index
    best: dict[str, Advice] = {}
    for (kind, _), places in cases.items():
        if 0 not in places or any(index not in changed for index in places.values()):
            continue
        first, of_first = tried[places[0]].change, changed[places[0]]
        if of_first is None or now[0].wa - of_first.wa <= noise(now[0], of_first):
            continue
        # If a candidate does not list this change, it already has the changed setting, so its WA
        # stays.
        of_all = {
            number: changed[places[number]] if number in places else now[number] for number in now
        }
        possible = {number: measured for number, measured in of_all.items() if measured is not None}
        with_it = _mixed(question, possible)
        if kind not in best or with_it.wa < best[kind].wa:
            without = _mixed(question, {number: now[number] for number in possible})
            best[kind] = Advice(
                first.words,
                with_it.wa,
                without.wa,
                first.costs,
                is_steady=all(measured.is_steady for measured in possible.values()),
                **with_it.as_fields(scaling),
            )
    return sorted(best.values(), key=lambda change: change.wa)


def _mixed(question: Question, by_candidate: Mapping[int, MeasuredCase]) -> MeasuredCase:
    """Return WA of the mixture of candidates, or of the drive if there is only one."""
    if not question.others:
        return by_candidate[0]
    mixture = question.mixed(
        [(number, measured, measured.is_steady) for number, measured in by_candidate.items()]
    )
    return MeasuredCase.of(mixture)


_QUICK_S = 10.0
# Maximum number of reported changes, each the best of its kind.
_TOLD = 3
_WHY, _LESS = "why rows differ", "how to reduce it"


@dataclass
class Listener:
    """Callbacks of an answer in progress.

    `row` gets each finished row, `part` the name of each step that starts, and `progress` the
    amount done and the total of the step.
    """

    row: Callable[[WayRow], None]
    part: Callable[[str], None]
    progress: Progress


@dataclass
class Asking:
    """An answer in progress; `answer()` returns the finished parts at any time."""

    question: Question
    rows: list[WayRow] = field(default_factory=list)
    findings: Findings = field(default_factory=Findings)
    chains: dict[str, CauseChain] = field(default_factory=dict)
    advice: list[Advice] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    def add(self, row: WayRow) -> WayRow:
        """Store a row and its findings separately, and return the row without findings."""
        self.findings = self.findings.joined(row.findings)
        # Findings hold requests, which would take much memory in a result, so the row has none.
        self.rows.append(replace(row, findings=Findings()))
        return self.rows[-1]

    def answer(self) -> Answer:
        """Return the answer so far."""
        question, simulated = self.question, self.findings.simulated
        scaling = NO_SUBSTITUTE if simulated is None else simulated.scaling
        warnings = [] if simulated is None else scaling.warnings(simulated.measured.wa)
        if has_load := question.has_load:
            warnings += question.plan.warnings
        lost = [sentence for chain in self.chains.values() for sentence in chain.lost]
        return Answer(
            load_name=question.plan.load_name if has_load else None,
            policy=str(question.requested_policy) if has_load else None,
            device=question.drive if has_load else None,
            rows=tuple(self.rows),
            differences=differences_of(self.rows, self.chains),
            advice=tuple(self.advice),
            held_pages=question.held_pages if self.rows and has_load else 0,
            missing=tuple(self.left),
            notes=tuple(
                dict.fromkeys(
                    [
                        *map(Caution, warnings),
                        *question.notes,
                        *self.findings.notes,
                        *self.left_out,
                        *lost,
                    ]
                )
            ),
            scaling=scaling,
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
    """Run all sources, measure why they differ, and try changes that reduce WA.

    Args:
        question: the drive and its load.
        listener: callbacks for rows and progress.
        ways: sources to run; sources that need the simulation run after the others.
        causes: possible causes of differences, in the order in which they are switched.
        kinds: kinds of changes to try.

    Raises:
        Interrupted: Ctrl-C; `finished` is the answer so far, or None without a row.
    """
    possible = [way for way in ways if question.has_load or not way.needs_load]
    ordered = sorted(possible, key=lambda way: way.needs_simulation)
    steps = (_WHY, _LESS) if question.has_load else ()
    asking = Asking(question, left=[*(way.name for way in ordered), *steps])
    try:
        for way in ordered:
            listener.part(way.name)
            for row in _rows(question, way, asking.findings, listener.progress):
                listener.row(asking.add(row))
            asking.left.remove(way.name)
        if not question.has_load:
            return asking.answer()
        listener.part(_WHY)
        _explain(asking, causes, listener.progress)
        asking.left.remove(_WHY)
        listener.part(_LESS)
        _advise(asking, kinds, listener.progress)
        asking.left.remove(_LESS)
    except KeyboardInterrupt:
        raise Interrupted(asking.answer() if asking.rows else None) from None
    return asking.answer()


def _rows(question: Question, way: Way, findings: Findings, progress: Progress) -> Iterable[WayRow]:
    if way.needs_simulation and findings.simulated is None:
        reason = "not run: it needs the simulation, which is not among the requested sources"
        return [WayRow.without(way.name, way.name, way.assumes, reason)]
    if question.settings.quick and findings.simulated is not None:
        expected_s = way.expected_s(question, findings)
        if expected_s > _QUICK_S:
            reason = f"left out by --quick: it would take about {expected_s:.0f} s"
            return [WayRow.without(way.name, way.name, way.assumes, reason)]
    return way.rows(question, findings, progress)


def _explain(asking: Asking, causes: Sequence[Cause], progress: Progress) -> None:
    """Measure the chain of causes of each row that has a WA, compared with the simulation."""
    question, simulation = asking.question, asking.findings.simulated
    simulated = next((row for row in asking.rows if row.kind == "simulate"), None)
    if simulated is None or simulation is None:
        return
    measured_steps: dict[Steps, MeasuredCase | str] = {}
    steps = {}
    for row in asking.rows:
        if row.answers and row is not simulated:
            todo = steps_of(asking.findings, row, causes, is_alike=agree(row, simulated))
            seconds = len(todo) * (row if row.kind == "timed" else simulated).seconds
            if question.settings.quick and seconds > _QUICK_S:
                asking.left_out.append(
                    f"--quick leaves out the runs that explain {row.way}; they would take about "
                    f"{seconds:.0f} s"
                )
                continue
            steps[row.way] = todo
    try:
        measure(
            [step for row_steps in steps.values() for step in row_steps], measured_steps, progress
        )
    finally:
        for row in asking.rows:
            if row.way in steps:
                asking.chains[row.way] = chain_of(
                    row, simulation.measured, steps[row.way], measured_steps
                )


def _advise(asking: Asking, kinds: Sequence[KindOfChange], progress: Progress) -> None:
    """Simulate the changes; store the best of each kind, at most 3."""
    question, first = asking.question, asking.findings.simulated
    if first is None:
        return
    candidates: dict[int, SimulatedQuestion] = {0: first, **first.others}
    now = {
        number: MeasuredCase(candidate.result.wa, candidate.result.ci, candidate.result)
        for number, candidate in candidates.items()
    }
    tried = [
        Tried(number, kind, change)
        for number, candidate in candidates.items()
        for kind in kinds
        for change in kind.changes(candidate)
    ]
    simulate = next(row for row in asking.rows if row.kind == "simulate")
    seconds = simulate.seconds / len(candidates) * len(tried)
    if question.settings.quick and seconds > _QUICK_S:
        asking.left_out.append(
            f"--quick leaves out the search for changes that reduce WA; it would take about "
            f"{seconds:.0f} s"
        )
        return
    changed: dict[int, MeasuredCase | None] = {}

    def keep(number: int, case: MeasuredCase | None) -> None:
        changed[number] = case
        asking.advice = best_of(question, now, tried, changed, first.scaling)[:_TOLD]

    gather_whole(
        local_runner(len(tried)),
        _wa_with,
        [candidate.change for candidate in tried],
        each=keep,
        progress=progress,
    )


def _wa_with(change: Change) -> MeasuredCase | None:
    try:
        return run_case(change.case)
    except WriteampError:  # the policy does not support this drive or load
        return None
