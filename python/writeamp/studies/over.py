"""Studies that run other experiments than the requested one.

Two kinds of requested experiments are not run directly. An experiment with a capacity is run on a
smaller drive, and on an even smaller one that shows the scaling error (`studies/capacity`). An
experiment on a learnt profile is run on every candidate that carries its weight
(`studies/candidates.py`). Both give `over` the variants to run and a function that combines their
results; a study gives it a function that runs one experiment. A `Substitute`
(`runs/substitute.py`) describes the relation to the requested experiment, so that results do not
depend on the variants.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias, TypeVar

from writeamp.errors import Interrupted, RefusedError, WriteampError
from writeamp.runners import Progress, Runner, gather
from writeamp.settings.experiment import Experiment

_T = TypeVar("_T")
_Whole = TypeVar("_Whole")

Run: TypeAlias = Callable[[Experiment, Progress | None], _T]
# Result or error of each variant, or None if it was not finished.
Outcomes: TypeAlias = Sequence[_T | WriteampError | None]


def over(
    variants: Sequence[Experiment],
    combine: Callable[[Outcomes[_T]], _Whole],
    run: Run[_T],
    progress: Progress | None = None,
    *,
    shares: Sequence[float] = (),
    runner: Runner | None = None,
    outlasted: type[WriteampError] = RefusedError,
) -> _Whole:
    """Run variants of the requested experiment, and return their combined result.

    Without a runner, they run one after another, and finished ones are a partial result: the first
    must succeed, and each of the others may be refused. With a runner, `combine` decides which
    errors it raises.

    Args:
        variants: the experiments to run.
        combine: makes the result of the requested experiment from the outcomes of the variants.
        run: runs one experiment; it is called with its progress only without a runner.
        progress: called with the work done and expected of all variants; with a runner, with the
            number of variants done and the total.
        shares: expected work of each variant, as a share of the first's.
        runner: runs several variants at the same time.
        outlasted: class of a variant's errors after which a runner's other variants still run.

    Raises:
        Interrupted: Ctrl-C; it carries the combined finished results, or None with a runner.
        WriteampError: a variant failed; `finished` has the combined finished results.
    """
    if runner is not None:
        try:
            work = partial(_run_or_error, run, outlasted)
            return combine(gather(runner, work, variants, progress=progress))
        except Interrupted:
            raise Interrupted(None) from None
    outcomes: list[_T | WriteampError | None] = [None] * len(variants)
    joined = None if progress is None else _Joined(progress, shares or [1.0] * len(variants))
    for index, variant in enumerate(variants):
        try:
            outcomes[index] = run(variant, None if joined is None else joined.of(index))
        except KeyboardInterrupt as stopped:
            if index == 0:
                outcomes[0] = getattr(stopped, "finished", None)
            raise Interrupted(_part(outcomes, combine)) from None
        except WriteampError as failed:
            if index > 0 and isinstance(failed, RefusedError):
                outcomes[index] = failed
                continue
            if index == 0:
                outcomes[0] = failed.finished
            failed.finished = _part(outcomes, combine)
            raise
    return combine(outcomes)


def _part(outcomes: Outcomes[_T], combine: Callable[[Outcomes[_T]], _Whole]) -> _Whole | None:
    """Return the combined finished results, or None if the first variant has none."""
    return None if outcomes[0] is None else combine(outcomes)


def _run_or_error(
    run: Run[_T], outlasted: type[WriteampError], experiment: Experiment
) -> _T | WriteampError:
    """Run a variant; return an error after which the others still run."""
    try:
        return run(experiment, None)
    except outlasted as error:
        return error


def succeeded(outcomes: Outcomes[_T]) -> list[tuple[int, _T]]:
    """Return the results with the index of their variant, without those of refused variants.

    Raises:
        WriteampError: the first error, if a variant failed or all of them were refused.
    """
    errors = [outcome for outcome in outcomes if isinstance(outcome, WriteampError)]
    failures = [error for error in errors if not isinstance(error, RefusedError)]
    if len(errors) == len(outcomes):
        failures += errors
    for failure in failures[:1]:
        raise failure
    return [
        (index, outcome)
        for index, outcome in enumerate(outcomes)
        if outcome is not None and not isinstance(outcome, WriteampError)
    ]


class _Joined:
    """Progress of variants that run one after another, reported as that of one run."""

    def __init__(self, progress: Progress, shares: Sequence[float]) -> None:
        self._progress = progress
        self._shares = shares
        self._done = [0] * len(shares)

    def of(self, index: int) -> Progress:
        """Return the function that reports the progress of one variant."""
        done_before = sum(self._done[:index])
        later = sum(self._shares[index + 1 :]) / self._shares[index]

        def report(done: int, expected: int) -> None:
            self._done[index] = done
            self._progress(done_before + done, done_before + expected + round(later * expected))

        return report
