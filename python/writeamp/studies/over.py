"""Studies that run other experiments than the one requested.

Two kinds of requested experiments are not run as they are. One of a capacity is run on a smaller
drive, and on a yet smaller one that shows the error of that (`studies/capacity`). One on a learnt
profile is run on every candidate that carries its weight (`studies/candidates.py`). Both hand
`over` the variants to run and how to combine their results; a study hands it how it runs one
experiment. What a result then says of the requested experiment is a `Substitute`
(`runs/substitute.py`), so that results need not know what was run.
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
# The result or the error of each variant; None if it was not finished.
Found: TypeAlias = Sequence[_T | WriteampError | None]


def over(
    variants: Sequence[Experiment],
    combine: Callable[[Found[_T]], _Whole],
    run: Run[_T],
    progress: Progress | None = None,
    *,
    shares: Sequence[float] = (),
    runner: Runner | None = None,
    outlasted: type[WriteampError] = RefusedError,
) -> _Whole:
    """Run experiments in the place of the requested one, and return their results as its own.

    Without a runner, they run one after another, and a part of them is a result too: the first must
    succeed, and each of the others may be refused. With a runner, `combine` decides which refusals
    it raises.

    Args:
        variants: the experiments to run.
        combine: makes the result of the requested experiment from those of the variants.
        run: runs one experiment, and is called with its progress if there is no runner.
        progress: called with what is done and expected of all variants; of a runner's, with the
            variants that are done, and how many there are.
        shares: what each variant is expected to do, as a share of the first.
        runner: runs several at the same time.
        outlasted: class of the errors of a runner's variants after which the others still run.

    Raises:
        Interrupted: Ctrl-C, with what was finished, combined; None with a runner.
        WriteampError: a variant failed; `finished` has what was finished, combined.
    """
    if runner is not None:
        try:
            work = partial(_run_or_error, run, outlasted)
            return combine(gather(runner, work, variants, progress=progress))
        except Interrupted:
            raise Interrupted(None) from None
    found: list[_T | WriteampError | None] = [None] * len(variants)
    joined = None if progress is None else _Joined(progress, shares or [1.0] * len(variants))
    for at, variant in enumerate(variants):
        try:
            found[at] = run(variant, None if joined is None else joined.of(at))
        except KeyboardInterrupt as stopped:
            if at == 0:
                found[0] = getattr(stopped, "finished", None)
            raise Interrupted(_part(found, combine)) from None
        except WriteampError as failed:
            if at > 0 and isinstance(failed, RefusedError):
                found[at] = failed
                continue
            if at == 0:
                found[0] = failed.finished
            failed.finished = _part(found, combine)
            raise
    return combine(found)


def _part(found: Found[_T], combine: Callable[[Found[_T]], _Whole]) -> _Whole | None:
    """Return what was finished, combined; None if the first variant has nothing."""
    return None if found[0] is None else combine(found)


def _run_or_error(
    run: Run[_T], outlasted: type[WriteampError], experiment: Experiment
) -> _T | WriteampError:
    """Run a variant; an error after which the others still run is returned."""
    try:
        return run(experiment, None)
    except outlasted as error:
        return error


def succeeded(found: Found[_T]) -> list[tuple[int, _T]]:
    """Return the results with the index of their variant, without those of refused variants.

    Raises:
        WriteampError: a variant failed, or all of them were refused: the first of them.
    """
    errors = [one for one in found if isinstance(one, WriteampError)]
    failures = [one for one in errors if not isinstance(one, RefusedError)]
    if len(errors) == len(found):
        failures += errors
    for failure in failures[:1]:
        raise failure
    return [
        (at, one)
        for at, one in enumerate(found)
        if one is not None and not isinstance(one, WriteampError)
    ]


class _Joined:
    """Progress of variants that run one after another, as that of one run."""

    def __init__(self, progress: Progress, shares: Sequence[float]) -> None:
        self._progress = progress
        self._shares = shares
        self._done = [0] * len(shares)

    def of(self, at: int) -> Progress:
        """Return the function that reports the progress of one variant."""
        before = sum(self._done[:at])
        later = sum(self._shares[at + 1 :]) / self._shares[at]

        def report(done: int, expected: int) -> None:
            self._done[at] = done
            self._progress(before + done, before + expected + round(later * expected))

        return report
