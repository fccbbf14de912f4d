"""Differences between rows (answers of sources): chains of causes, and pairs of rows."""

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

# Key of a run: name of the row from which switching starts, then names of the switched causes.
Steps = tuple[str, ...]
_SIMULATION: Steps = ("simulation",)
# If two runs replay the same requests: smallest contribution that counts as a cause, as a share of
# WA. For other runs it is the noise.
_VISIBLE = 1e-3
# Smaller differences of WA are rounding errors: contributions of one cause in two chains of the
# same runs are equal, and cancel.
_NOTHING = 1e-12
# Causes with a smaller contribution, as a share of WA, are summed up in the table.
_SHOWN = 0.002
# Smallest amount of WA that is not printed as zero.
_PRINTED = 5e-4
# Rows agree if they differ by less than this share of WA, even if both are computed without noise.
_ALIKE = 1e-3


@dataclass(frozen=True)
class Share:
    """Contribution of a cause to a difference of WA, as a signed amount of WA."""

    cause: str
    share: float


@dataclass(frozen=True, eq=False)
class CauseChain:
    """Explanation of a row's WA: the simulation's WA plus all shares plus an unexplained rest.

    A share is the contribution of a cause. `lost` has sentences on causes that could not be
    measured.
    """

    way: str
    shares: tuple[Share, ...]
    lost: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class _Step:
    """A cause, and the case (run settings) in which it and all causes before it are switched."""

    cause: Cause
    steps: Steps
    case: Case


def steps_of(
    findings: Findings, row: WayRow, causes: Sequence[Cause], *, is_alike: bool
) -> list[_Step]:
    """Return the runs that explain a row.

    If the row agrees with the simulation, only causes that are switched from the simulation, such
    as "window", are run, because their contributions explain differences from other rows.
    """
    simulated = findings.simulated
    if simulated is None or (is_alike and row.kind not in WINDOWED):
        return []
    steps = list(_steps(simulated, row, causes, None))
    if not is_alike and findings.timed is not None and row.kind == "timed":
        steps += _steps(simulated, row, causes, findings.timed)
    return steps


def _steps(
    simulated: SimulatedQuestion, row: WayRow, causes: Sequence[Cause], at_way: Case | None
) -> Iterator[_Step]:
    """Yield the steps from the simulation, or from `at_way`, the run of the row's source."""
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
    steps: Sequence[_Step], results: dict[Steps, MeasuredCase | str], progress: Progress
) -> None:
    """Run the steps that are not in `results`, and add their WA or the error sentence.

    After Ctrl-C, `results` has the finished steps.

    Raises:
        KeyboardInterrupt: Ctrl-C.
    """
    todo = list({step.steps: step for step in steps if step.steps not in results}.values())

    def keep(index: int, measured: MeasuredCase | str) -> None:
        results[todo[index].steps] = measured

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
    results: Mapping[Steps, MeasuredCase | str],
) -> CauseChain:
    """Return the chain of a row from the measured steps.

    Shares of steps from the simulation count if they exceed noise. Steps that replay the same
    requests have no noise between them, so their shares count from 0.1% of WA.
    """
    shares, lost = [], []
    for at_way in (False, True):
        start = MeasuredCase(row.wa, row.ends) if at_way else simulated
        for step in (step for step in steps if step.cause.at_way is at_way):
            measured = results.get(step.steps, f"{step.cause.name}: not finished")
            if isinstance(measured, str):
                lost.append(measured)
                continue
            share = start.wa - measured.wa if at_way else measured.wa - start.wa
            is_paired = at_way or row.kind in WINDOWED
            if abs(share) > (_VISIBLE * row.wa if is_paired else noise(start, measured)):
                shares.append(Share(step.cause.name, share))
                start = measured
    return CauseChain(row.way, tuple(shares), tuple(lost))


def noise(first: MeasuredCase, second: MeasuredCase) -> float:
    """Return the half width of the 95% interval of a difference; a missing interval counts as 0."""
    widths = [(result.error_bar[1] - result.error_bar[0]) / 2 for result in (first, second)]
    return math.hypot(*(width for width in widths if not math.isnan(width)))


@dataclass(frozen=True)
class RowDifference:
    """Difference of two rows in WA, second minus first, and its causes.

    The shares and `unexplained` add up to `wa_difference`. Rows `agree` if they differ by at most
    `noise`: the half width of the 95% interval of their difference, but at least 0.1% of
    the smaller WA.
    """

    between: tuple[str, str]
    wa_difference: float
    causes: tuple[Share, ...]
    unexplained: float
    noise: float
    agree: bool

    def why(self, sign: int, wa: float) -> str:
        """Return the causes in words, largest share first, or a sentence that the rows agree.

        Args:
            sign: -1 for the first row minus the second, 1 for the second minus the first.
            wa: WA that is 100%; causes below 0.2% of it are summed up.
        """
        if self.agree:
            return f"agree within noise (±{four_digits(self.noise)})"
        least = _SHOWN * wa
        shares = sorted(self.causes, key=lambda share: -abs(share.share))
        shown = [share for share in shares if abs(share.share) >= least]
        small = sum(share.share for share in shares if abs(share.share) < least)
        parts = [f"{sign * share.share:+.3f} {share.cause}" for share in shown]
        if abs(small) > 0:
            parts.append(f"{sign * small:+.3f} smaller causes")
        unexplained = sign * self.unexplained
        parts.append(
            f"{unexplained:+.3f} unexplained ({unexplained / wa:+.2%} of WA)"
            if abs(unexplained) >= _PRINTED
            else "nothing unexplained"
        )
        return "; ".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """Return the difference as JSON types."""
        return {
            "between": list(self.between),
            "wa_difference": self.wa_difference,
            "causes": [{"cause": share.cause, "share": share.share} for share in self.causes],
            "unexplained": self.unexplained,
            "noise": self.noise,
            "agree": self.agree,
        }


def differences_of(
    rows: Sequence[WayRow], chains: Mapping[str, CauseChain]
) -> tuple[RowDifference, ...]:
    """Return the difference of each pair of rows that have a WA."""
    answered = [row for row in rows if row.answers]
    return tuple(_between(a, b, chains) for a, b in combinations(answered, 2))


def agree(a: WayRow, b: WayRow) -> bool:
    """Return whether two rows differ by at most noise."""
    return abs(b.wa - a.wa) <= _noise(a, b)


def _noise(a: WayRow, b: WayRow) -> float:
    least = _ALIKE * min(a.wa, b.wa)
    ends = (a.ends, b.ends)
    if a.own_interval is not None and b.own_interval is not None:
        # Both rows are of the same smaller drive, so their scaling errors are equal and cancel.
        ends = (a.own_interval, b.own_interval)
    return max(least, noise(MeasuredCase(a.wa, ends[0]), MeasuredCase(b.wa, ends[1])))


def _between(a: WayRow, b: WayRow, chains: Mapping[str, CauseChain]) -> RowDifference:
    difference, row_noise = b.wa - a.wa, _noise(a, b)
    shares: dict[str, float] = {}
    if abs(difference) > row_noise:
        for sign, row in ((-1, a), (1, b)):
            for share in chains[row.way].shares if row.way in chains else ():
                shares[share.cause] = shares.get(share.cause, 0.0) + sign * share.share
    causes = tuple(Share(cause, share) for cause, share in shares.items() if abs(share) > _NOTHING)
    return RowDifference(
        between=(a.way, b.way),
        wa_difference=difference,
        causes=causes,
        unexplained=difference - sum(share.share for share in causes),
        noise=row_noise,
        agree=abs(difference) <= row_noise,
    )
