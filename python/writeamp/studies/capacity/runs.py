"""Runs for a stated capacity: on a smaller drive, with the error of its scale.

A drive that stands for one of the stated capacity is run, its result is said of that one, and held
against the result of a drive that is smaller still.

Each verb says how it runs an experiment and how its result tells the error; the rest, what is shown
as done and what Ctrl-C leaves, is the same for all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from writeamp.devices.policy import Policy
from writeamp.devices.size import is_of_blocks_only
from writeamp.errors import Interrupted, RefusedError, WriteampError
from writeamp.runners import Progress
from writeamp.runs.capacity_error import SMALLER, Scale
from writeamp.runs.lifetime_plan import Lifetime
from writeamp.runs.plan import Plan
from writeamp.settings.experiment import Experiment
from writeamp.studies.capacity.scale import at_scale, notes_of, scale_of

_Found = TypeVar("_Found")
_AnyPlan = TypeVar("_AnyPlan", Plan, Lifetime)


@dataclass(frozen=True)
class StandIn:
    """Experiment on the smaller drive that stands for the one that is meant."""

    asked: Experiment
    experiment: Experiment
    scale: Scale

    @staticmethod
    def of(asked: Experiment) -> StandIn | None:
        """Return the stand-in of an experiment; None if the simulated size is given.

        Raises:
            WriteampError: what no smaller drive can stand for.
        """
        scale = scale_of(asked)
        return None if scale is None else StandIn(asked, at_scale(asked, scale), scale)

    @property
    def smaller(self) -> Experiment | None:
        """Experiment that tells the error of scaling; None if the stated drive is simulated."""
        return None if self.scale.is_exact else at_scale(self.asked, self.scale, SMALLER)

    def meant(self, plan: _AnyPlan, policy: Policy | None = None) -> _AnyPlan:
        """Return a plan as one of the drive that is meant.

        Args:
            plan: of the drive that stands for it.
            policy: the one asked for, unless it is that of the plan.
        """
        pairs = zip(self.asked.load.workloads, self.experiment.load.workloads, strict=True)
        names = {scaled.text: asked.text for asked, scaled in pairs}
        return replace(
            plan,
            load_name=names.get(plan.load_name, plan.load_name),
            policy=policy or plan.policy,
            notes=(*notes_of(self.asked, self.experiment, self.scale), *_with_news(plan.notes)),
        )


def _with_news(notes: tuple[str, ...]) -> list[str]:
    """Return the notes of a run without that on the drive's size, which the scale's notes tell."""
    return [note for note in notes if not is_of_blocks_only(note)]


class Restate(Protocol[_Found]):
    """Function that restates a stand-in's result for the drive that is meant."""

    def __call__(self, standing: StandIn, found: _Found, other: _Found | None) -> _Found:
        """Return the result with its error: the change from `other`, unknown if that is None."""


def run_at_capacity(
    asked: Experiment,
    run: Callable[[Experiment, Progress | None], _Found],
    restate: Restate[_Found],
    progress: Progress | None,
    share: float = 1.0,
) -> _Found:
    """Run an experiment, on a smaller drive if it asks for a capacity.

    Args:
        asked: what to do.
        run: does it on the drive that it says.
        restate: turns a result into one of the drive that is meant.
        progress: called with what is done and expected of all that is run.
        share: what the smaller drive that tells the error is expected to do, of the other's.

    Raises:
        Interrupted: Ctrl-C, with what was finished, whose error is not known.
        WriteampError: a part failed; `finished` has the others in the same way.
    """
    standing = StandIn.of(asked)
    if standing is None:
        return run(asked, progress)
    smaller = standing.smaller
    both = _Both(progress, share) if progress and smaller else None
    try:
        found = run(standing.experiment, both.first if both else progress)
    except Interrupted as stopped:
        part = stopped.finished
        raise Interrupted(None if part is None else restate(standing, part, None)) from None
    except WriteampError as failed:
        if failed.finished is not None:
            failed.finished = restate(standing, failed.finished, None)
        raise
    if smaller is None:
        return restate(standing, found, found)
    try:
        return restate(standing, found, run(smaller, both.second if both else None))
    except KeyboardInterrupt:
        raise Interrupted(restate(standing, found, None)) from None
    except RefusedError:  # one so small can be too small for its manager
        return restate(standing, found, None)


class _Both:
    """Progress of two runs, joined into one."""

    def __init__(self, progress: Progress, share: float) -> None:
        """Expect the second to be such a share of the first."""
        self._progress = progress
        self._share = share
        self._done = 0

    def first(self, done: int, expected: int) -> None:
        """Report the progress of the first run."""
        self._done = done
        self._progress(done, expected + round(self._share * expected))

    def second(self, done: int, expected: int) -> None:
        """Report the progress of the second run."""
        self._progress(self._done + done, self._done + expected)
