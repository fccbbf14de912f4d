"""Experiments of a stated capacity: run on a smaller drive, with the error of its scale.

The result of the smaller drive is told as that of the requested one, and compared with the result
of a drive that is smaller still.
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
from writeamp.studies.capacity.scale import at_scale, notes_of, scale_of
from writeamp.studies.over import Found, Run, over

_T = TypeVar("_T")
_AnyPlan = TypeVar("_AnyPlan", Plan, Lifetime)


@dataclass(frozen=True)
class ScaledExperiment:
    """Experiment on the smaller drive that stands for the one requested."""

    requested: Experiment
    experiment: Experiment
    scale: Scale

    @staticmethod
    def of(requested: Experiment) -> ScaledExperiment | None:
        """Return the experiment on the smaller drive; None if the simulated size is given.

        Raises:
            WriteampError: what no smaller drive can stand for.
        """
        scale = scale_of(requested)
        if scale is None:
            return None
        return ScaledExperiment(requested, at_scale(requested, scale), scale)

    @property
    def smaller(self) -> Experiment | None:
        """Experiment that tells the error of scaling; None if the stated drive is simulated."""
        return None if self.scale.is_exact else at_scale(self.requested, self.scale, SMALLER)

    @cached_property
    def _requested_policies(self) -> dict[Policy, Policy]:
        scaled, requested = (policies_of(one.policy) for one in (self.experiment, self.requested))
        return dict(zip(scaled, requested, strict=True))

    def target_plan(self, plan: _AnyPlan) -> _AnyPlan:
        """Return a plan of the smaller drive as one of the drive that is requested."""
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

    def error(self, found: JudgedWa, other: JudgedWa | None) -> ScalingError:
        """Return the error of a WA: the change from `other`, unknown if that is None."""
        return ScalingError.of(self.scale, found, other)

    def target_result(self, found: Result, other: Result | None) -> Result:
        """Return a result of the smaller drive as one of the drive that is requested."""
        return replace(found, plan=self.target_plan(found.plan), scaling=self.error(found, other))


def _without_size(notes: tuple[str, ...]) -> list[str]:
    """Return the notes of a run without that on the drive's size, which the scale's notes tell."""
    return [note for note in notes if not is_of_blocks_only(note)]


# Returns the result of a smaller drive as one of the drive that is requested, with its error: the
# change from the other result, unknown if that is None.
Restate: TypeAlias = Callable[[ScaledExperiment, _T, _T | None], _T]


def over_capacity(
    requested: Experiment,
    run: Run[_T],
    restate: Restate[_T],
    progress: Progress | None,
    share: float = 1.0,
) -> _T:
    """Run an experiment, on smaller drives if it asks for a capacity.

    Args:
        requested: what to do.
        run: does it on the drive that it says.
        restate: turns a result into one of the drive that is requested.
        progress: called with what is done and expected of all that is run.
        share: what the smallest drive is expected to do, of the other's.

    Raises:
        Interrupted: Ctrl-C, with what was finished, whose error is not known.
        WriteampError: a part failed; `finished` has the others in the same way.
    """
    scaled = ScaledExperiment.of(requested)
    if scaled is None:
        return run(requested, progress)
    smaller = scaled.smaller
    variants = [scaled.experiment, *([] if smaller is None else [smaller])]
    combine = partial(_restated, scaled, restate)
    return over(variants, combine, run, progress, shares=(1.0, share)[: len(variants)])


def _restated(
    scaled: ScaledExperiment,
    restate: Restate[_T],
    results: Found[_T],
) -> _T:
    found, other = (
        None if isinstance(one, WriteampError) else one for one in (results[0], results[-1])
    )
    assert found is not None, "the first variant succeeds, or nothing is combined"
    return restate(scaled, found, other)
