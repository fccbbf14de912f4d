"""Studies that run variants instead of the requested experiment, and combine their results.

Two kinds of requested experiments are not run directly. An experiment with a capacity is run on a
smaller drive, and on an even smaller one that shows the scaling error (`studies/capacity`). An
experiment on a learnt profile is run on every probable candidate drive (`studies/candidates.py`).
Both modules pass the variants, and a function that combines their results, to `over`; a study
passes a function that runs one experiment. A `Substitute` (`runs/substitute.py`) in a result
describes how it relates to the requested experiment.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias, TypeVar

from writeamp.errors import Interrupted, RefusedError, WriteampError
from writeamp.runners import Progress, Runner, gather
from writeamp.settings.experiment import Experiment
from writeamp.studies.shards import ShardDone

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

    Without a runner, the variants run one after another. The first must succeed; each of the others
    may be refused, because its drive is too small. Finished variants are a partial result. With a
    runner, `combine` decides which errors it raises.

    Args:
        variants: the experiments to run.
        combine: makes the result of the requested experiment from the outcomes of the variants.
        run: runs one experiment; it gets a progress function only without a runner.
        progress: called with the work done and the expected total over all variants; with a runner,
            with the number of variants done and the total.
        shares: expected work of each variant, as a share of the work of the first.
        runner: runs several variants at the same time.
        outlasted: class of errors after which the runner still runs the other variants.

    Raises:
        Interrupted: Ctrl-C; it carries the combined finished results, or None with a runner.
        WriteampError: a variant failed; `finished` has the combined finished results.
        ShardDone: the variants ran as one of several shards.
    """
    if runner is not None:
        try:
            work = partial(_run_or_error, run, outlasted)
            return combine(gather(runner, work, variants, progress=progress))
        except Interrupted:
            raise Interrupted(None) from None
    outcomes: list[_T | WriteampError | None] = [None] * len(variants)
    sharded: ShardDone | None = None
    joined = None if progress is None else _Joined(progress, shares or [1.0] * len(variants))
    for index, variant in enumerate(variants):
        try:
            outcomes[index] = run(variant, None if joined is None else joined.of(index))
        except ShardDone as done:
            sharded = done
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
    if sharded is not None:
        raise sharded
    return combine(outcomes)


def _part(outcomes: Outcomes[_T], combine: Callable[[Outcomes[_T]], _Whole]) -> _Whole | None:
    """Return the combined finished results, or None if the first variant has none."""
    return None if outcomes[0] is None else combine(outcomes)


def _run_or_error(
    run: Run[_T], outlasted: type[WriteampError], experiment: Experiment
) -> _T | WriteampError:
    """Run a variant; return errors of one class instead of raising them."""
    try:
        return run(experiment, None)
    except outlasted as error:
        return error


def succeeded(outcomes: Outcomes[_T]) -> list[tuple[int, _T]]:
    """Return the results, each with the index of its variant; refused variants are left out.

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
    """Progress of variants that run one after another, reported as the progress of one run."""

    def __init__(self, progress: Progress, shares: Sequence[float]) -> None:
        self._progress = progress
        self._shares = shares
        self._done = [0] * len(shares)

    def of(self, index: int) -> Progress:
        """Return the progress function of the variant at `index`."""
        done_before = sum(self._done[:index])
        later = sum(self._shares[index + 1 :]) / self._shares[index]

        def report(done: int, expected: int) -> None:
            self._done[index] = done
            self._progress(done_before + done, done_before + expected + round(later * expected))

        return report
