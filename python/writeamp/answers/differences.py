"""Differences of rows: chains of switched causes from the simulation to each way, and pairs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from writeamp.answers.case import Case, MeasuredCase, run_case
from writeamp.answers.causes import WINDOWED, Cause
from writeamp.answers.question import SimulatedQuestion
from writeamp.answers.theories import theory_of
from writeamp.answers.way import Findings, WayRow
from writeamp.errors import WriteampError
from writeamp.results.numbers import four_digits
from writeamp.runners import Progress, gather_whole, local_runner

# What switches came before, and at which end: the key of a run.
Steps = tuple[str, ...]
_SIMULATION: Steps = ("simulation",)
# Of WA: a smaller share than this is no cause that anybody could see.
_VISIBLE = 1e-3
# Shares of one cause in two chains that are one run differ by rounding only.
_NOTHING = 1e-12
# A cause of a smaller share of WA is not shown in words.
_SHOWN = 0.002
# Of WA: rows that differ by less than this agree, though they may be computed without noise.
_ALIKE = 1e-3


@dataclass(frozen=True)
class Share:
    """Share of a cause in a difference, in WA."""

    cause: str
    share: float


@dataclass(frozen=True, eq=False)
class CauseChain:
    """Chain of a way, whose WA is the simulation's, plus all shares, plus an unexplained rest.

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
    findings: Findings, row: WayRow, causes: Sequence[Cause], *, is_alike: bool
) -> list[_Step]:
    """Return the runs that explain a row.

    If the row agrees with the simulation, only the window is run: its share stands between the row
    and others.
    """
    simulated = findings.simulated
    if simulated is None or (is_alike and row.kind not in WINDOWED):
        return []
    found = list(_steps(simulated, row, causes, None))
    if not is_alike and findings.timed is not None and row.kind == "timed":
        found += _steps(simulated, row, causes, findings.timed)
    return found


def _steps(
    simulated: SimulatedQuestion, row: WayRow, causes: Sequence[Cause], at_way: Case | None
) -> Iterator[_Step]:
    """Give the steps from the simulation, or from the case of the way itself."""
    case, steps = simulated.question.simulation, _SIMULATION
    if at_way is not None:
        case, steps = at_way, (row.way,)
    theory = theory_of(simulated.question, row.kind)
    is_of_load = theory is not None and theory.is_of_load
    for cause in causes:
        if row.kind not in cause.explains or cause.at_way is (at_way is None):
            continue
        if is_of_load and not cause.of_drive:
            continue
        switched = cause.switch(simulated, case, row.kind)
        if switched is not None:
            case, steps = switched, (*steps, cause.name)
            yield _Step(cause, steps, switched)


def measure(
    steps: Sequence[_Step], known: dict[Steps, MeasuredCase | str], progress: Progress
) -> None:
    """Run the steps that `known` lacks, and add the WA of each, or the reason why it has none.

    After Ctrl-C, `known` has the steps that were finished.

    Raises:
        KeyboardInterrupt: Ctrl-C.
    """
    todo = list({one.steps: one for one in steps if one.steps not in known}.values())

    def keep(at: int, found: MeasuredCase | str) -> None:
        known[todo[at].steps] = found

    gather_whole(local_runner(len(todo)), _measured, todo, each=keep, progress=progress)


def _measured(step: _Step) -> MeasuredCase | str:
    try:
        return run_case(step.case)
    except WriteampError as error:
        return f"{step.cause.name}: {error}"


def chain_of(
    row: WayRow,
    simulated: MeasuredCase,
    steps: Sequence[_Step],
    known: Mapping[Steps, MeasuredCase | str],
) -> CauseChain:
    """Return the chain of a row, whose steps were measured as far as they could be.

    Shares of what is switched at the simulation count if they are more than noise; those at the way
    are of the same requests, so that what they differ by is what was switched.
    """
    shares, lost = [], []
    for at_way in (False, True):
        before = MeasuredCase(row.wa, row.ends) if at_way else simulated
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
    return CauseChain(row.way, tuple(shares), tuple(lost))


def noise(one: MeasuredCase, other: MeasuredCase) -> float:
    """Return the difference that chance alone makes, of two results with 95% intervals."""
    widths = [(each.error_bar[1] - each.error_bar[0]) / 2 for each in (one, other)]
    return math.hypot(*(width for width in widths if not math.isnan(width)))


@dataclass(frozen=True)
class RowDifference:
    """Difference between two rows in WA, the second less the first, and its causes.

    The shares and `unexplained` add up to `wa_difference`. Rows that `agree` differ by no more than
    `noise`, the half width of the interval of their difference.
    """

    between: tuple[str, str]
    wa_difference: float
    causes: tuple[Share, ...]
    unexplained: float
    noise: float
    agree: bool

    def why(self, sign: int, wa: float) -> str:
        """Return the causes in words, those with the largest share first.

        Args:
            sign: -1 for the difference of the first row from the second.
            wa: of which shares must be a visible part.
        """
        if self.agree:
            return f"they agree: noise is ±{four_digits(self.noise)}"
        least = _SHOWN * wa
        shares = sorted(self.causes, key=lambda each: -abs(each.share))
        shown = [each for each in shares if abs(each.share) >= least]
        small = sum(each.share for each in shares if abs(each.share) < least)
        parts = [f"{sign * each.share:+.4f} {each.cause}" for each in shown]
        if abs(small) > 0:
            parts.append(f"{sign * small:+.4f} smaller ones")
        unexplained = sign * self.unexplained
        parts.append(f"{unexplained:+.4f} unexplained ({unexplained / wa:+.2%} of WA)")
        return "; ".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """Return the difference as JSON types."""
        return {
            "between": list(self.between),
            "wa_difference": self.wa_difference,
            "causes": [{"cause": one.cause, "share": one.share} for one in self.causes],
            "unexplained": self.unexplained,
            "noise": self.noise,
            "agree": self.agree,
        }


def differences_of(
    rows: Sequence[WayRow], chains: Mapping[str, CauseChain]
) -> tuple[RowDifference, ...]:
    """Return the difference of each pair of rows that answer."""
    answered = [one for one in rows if one.answers]
    return tuple(_between(a, b, chains) for a, b in combinations(answered, 2))


def agree(a: WayRow, b: WayRow) -> bool:
    """Return whether two rows differ by no more than noise."""
    return abs(b.wa - a.wa) <= _noise(a, b)


def _noise(a: WayRow, b: WayRow) -> float:
    least = _ALIKE * min(a.wa, b.wa)
    return max(least, noise(MeasuredCase(a.wa, a.ends), MeasuredCase(b.wa, b.ends)))


def _between(a: WayRow, b: WayRow, chains: Mapping[str, CauseChain]) -> RowDifference:
    difference, wide = b.wa - a.wa, _noise(a, b)
    shares: dict[str, float] = {}
    if abs(difference) > wide:
        for sign, row in ((-1, a), (1, b)):
            for one in chains[row.way].shares if row.way in chains else ():
                shares[one.cause] = shares.get(one.cause, 0.0) + sign * one.share
    causes = tuple(Share(cause, share) for cause, share in shares.items() if abs(share) > _NOTHING)
    return RowDifference(
        between=(a.way, b.way),
        wa_difference=difference,
        causes=causes,
        unexplained=difference - sum(one.share for one in causes),
        noise=wide,
        agree=abs(difference) <= wide,
    )
