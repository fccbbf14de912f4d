"""Chain from the simulation to another way: what is switched, and what each switch moves."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from writeamp.answers.case import Case, Found, measured
from writeamp.answers.cause import WINDOWED, Cause
from writeamp.answers.question import Question
from writeamp.answers.row import WayRow
from writeamp.errors import WriteampError
from writeamp.runners import local_runner

# What switches came before, and at which end: the key of a run.
Steps = tuple[str, ...]
_SIMULATION: Steps = ("simulation",)
# Of WA: a smaller share than this is no cause that anybody could see.
_VISIBLE = 1e-3


@dataclass(frozen=True)
class Share:
    """Share of a cause in a difference, in WA."""

    cause: str
    share: float


@dataclass(frozen=True, eq=False)
class Chain:
    """Chain of a way: its WA is that of the simulation, and all shares, and what is unexplained.

    `lost` are sentences on causes that could not be measured.
    """

    way: str
    shares: tuple[Share, ...]
    lost: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class _Step:
    """A cause, and the case in which it is switched after all before it."""

    cause: Cause
    steps: Steps
    case: Case


def steps_of(
    question: Question, row: WayRow, causes: Sequence[Cause], *, is_alike: bool
) -> list[_Step]:
    """Return what is to be run to explain a row.

    Of one that is alike to the simulation, no more than the window is to be known: what that moves
    stands between the row and others.
    """
    if is_alike and row.kind not in WINDOWED:
        return []
    found = list(_steps(question, row, causes, at_way=False))
    if is_alike:
        return found
    if question.timed is not None and row.kind == "timed":
        found += _steps(question, row, causes, at_way=True)
    return found


def _steps(
    question: Question, row: WayRow, causes: Sequence[Cause], *, at_way: bool
) -> Iterator[_Step]:
    case = question.simulation
    steps = _SIMULATION
    if at_way:
        assert question.timed is not None
        case, steps = question.timed[0], (row.way,)
    is_of_load = row.kind == "mean-field" and question.mean_field is not None
    for cause in causes:
        if row.kind not in cause.explains or cause.at_way is not at_way:
            continue
        if is_of_load and not cause.of_drive:
            continue
        switched = cause.switch(question, case, row.kind)
        if switched is not None:
            case, steps = switched, (*steps, cause.name)
            yield _Step(cause, steps, switched)


def measure(
    steps: Sequence[_Step], known: dict[Steps, Found | str], done: Callable[[int, int], None]
) -> None:
    """Run what is not known yet; what cannot be run is known by the sentence that says why.

    What is finished when Ctrl-C comes is known then.

    Raises:
        KeyboardInterrupt: Ctrl-C.
    """
    todo = list({one.steps: one for one in steps if one.steps not in known}.values())
    for finished, (at, found) in enumerate(local_runner(len(todo)).results(_measured, todo), 1):
        known[todo[at].steps] = found
        done(finished, len(todo))


def _measured(step: _Step) -> Found | str:
    try:
        return measured(step.case)
    except WriteampError as error:
        return f"{step.cause.name}: {error}"


def chain_of(
    row: WayRow, simulated: Found, steps: Sequence[_Step], known: Mapping[Steps, Found | str]
) -> Chain:
    """Return the chain of a row, whose steps were measured as far as they could be.

    Shares of what is switched at the simulation count if they are more than noise; those at the way
    are of the same requests, so that what they differ by is what was switched.
    """
    shares, lost = [], []
    for at_way in (False, True):
        before = Found(row.wa, row.bounds) if at_way else simulated
        for one in (step for step in steps if step.cause.at_way is at_way):
            found = known.get(one.steps, f"{one.cause.name}: not finished")
            if isinstance(found, str):
                lost.append(found)
                continue
            share = before.wa - found.wa if at_way else found.wa - before.wa
            is_paired = at_way or row.kind in WINDOWED
            if abs(share) > (_VISIBLE * row.wa if is_paired else noise(before, found)):
                shares.append(Share(one.cause.name, share))
                before = found
    return Chain(row.way, tuple(shares), tuple(lost))


def noise(one: Found, other: Found) -> float:
    """Return the difference that chance alone makes, of two results with 95% intervals."""
    widths = [(each.ci[1] - each.ci[0]) / 2 for each in (one, other)]
    return math.hypot(*(width for width in widths if not math.isnan(width)))
