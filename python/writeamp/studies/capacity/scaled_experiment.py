"""Experiments with a requested capacity: run on a smaller drive, with the scaling error.

The result on the smaller drive is reported for the requested one. Its error is estimated from a
drive that is even smaller.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TypeAlias, TypeVar

from writeamp.devices.policy import Policy
from writeamp.devices.size import is_of_blocks_only
from writeamp.errors import WriteampError
from writeamp.runners import Progress
from writeamp.runs.capacity_error import SMALLER, JudgedWa, Scale, ScalingError
from writeamp.runs.lifetime_plan import Lifetime
from writeamp.runs.plan import Plan, policies_of
from writeamp.runs.simulation_result import Result
from writeamp.settings.experiment import Experiment
from writeamp.settings.settings import SimulationSettings
from writeamp.studies.capacity.scale import at_scale, notes_of, scale_of
from writeamp.studies.over import Outcomes, Run, over

# Coarsest precision of the drive that shows the scaling error, if no coarser one is requested.
_COARSEST = 0.005

_T = TypeVar("_T")
_AnyPlan = TypeVar("_AnyPlan", Plan, Lifetime)


@dataclass(frozen=True)
class ScaledExperiment:
    """Experiment on the scaled-down drive, together with the requested experiment."""

    requested: Experiment
    experiment: Experiment
    scale: Scale

    @staticmethod
    def of(requested: Experiment) -> ScaledExperiment | None:
        """Return the scaled-down experiment; None without a capacity, or with a stated size.

        Raises:
            WriteampError: the experiment cannot be scaled down.
        """
        scale = scale_of(requested)
        if scale is None:
            return None
        return ScaledExperiment(requested, at_scale(requested, scale), scale)

    @property
    def smaller(self) -> Experiment | None:
        """Experiment on an even smaller drive, which shows the scaling error; None at full size."""
        if self.scale.is_exact:
            return None
        smaller = at_scale(self.requested, self.scale, SMALLER)
        run = smaller.run
        if isinstance(run, SimulationSettings):
            # Its noise is part of the scaling error only, which is that large anyway.
            coarse = min(SMALLER * run.precision, _COARSEST)
            run = replace(run, precision=max(run.precision, coarse))
        return replace(smaller, run=run)

    @cached_property
    def _requested_policies(self) -> dict[Policy, Policy]:
        scaled, requested = (
            policies_of(experiment.policy) for experiment in (self.experiment, self.requested)
        )
        return dict(zip(scaled, requested, strict=True))

    def target_plan(self, plan: _AnyPlan) -> _AnyPlan:
        """Return a plan of the smaller drive as a plan of the requested drive."""
        pairs = zip(self.requested.load.workloads, self.experiment.load.workloads, strict=True)
        names = {scaled.text: requested.text for requested, scaled in pairs}
        return replace(
            plan,
            load_name=names.get(plan.load_name, plan.load_name),
            policy=self._requested_policies[plan.policy],
            notes=(
                *notes_of(self.requested, self.experiment, self.scale),
                *_without_size(plan.notes),
            ),
        )

    def error(self, result: JudgedWa, other: JudgedWa | None) -> ScalingError:
        """Return the scaling error of a WA by its change from `other`; unknown if that is None."""
        return ScalingError.of(self.scale, result, other)

    def target_result(self, result: Result, other: Result | None) -> Result:
        """Return a result on the smaller drive as a result on the requested drive."""
        return replace(
            result, plan=self.target_plan(result.plan), scaling=self.error(result, other)
        )


def _without_size(notes: tuple[str, ...]) -> list[str]:
    """Return the notes of a run, without the note on the drive's size."""
    return [note for note in notes if not is_of_blocks_only(note)]


# Function that converts a result on the smaller drive to the requested drive. The last argument is
# the result on the even smaller drive, which gives the scaling error; None if there is none.
ToTarget: TypeAlias = Callable[[ScaledExperiment, _T, _T | None], _T]


def over_capacity(
    requested: Experiment,
    run: Run[_T],
    to_target: ToTarget[_T],
    progress: Progress | None,
    share: float = 1.0,
) -> _T:
    """Run an experiment, on scaled-down drives if a capacity is requested.

    Args:
        requested: experiment to run.
        run: runs an experiment at the size that it states.
        to_target: converts a result to the requested drive.
        progress: called with the work done and expected in all runs.
        share: expected work on the even smaller drive, as a share of the work on the smaller drive.

    Raises:
        Interrupted: Ctrl-C; it carries the finished result, with an unknown scaling error.
        WriteampError: a run failed; `finished` has the finished result, with an unknown scaling
            error.
    """
    scaled = ScaledExperiment.of(requested)
    if scaled is None:
        return run(requested, progress)
    smaller = scaled.smaller
    variants = [scaled.experiment, *([] if smaller is None else [smaller])]
    combine = partial(_combined, scaled, to_target)
    return over(variants, combine, run, progress, shares=(1.0, share)[: len(variants)])


def _combined(
    scaled: ScaledExperiment,
    to_target: ToTarget[_T],
    outcomes: Outcomes[_T],
) -> _T:
    result, other = (
        None if isinstance(outcome, WriteampError) else outcome
        for outcome in (outcomes[0], outcomes[-1])
    )
    assert result is not None, "`over` combines outcomes only if the first variant has a result"
    return to_target(scaled, result, other)
