"""Policies that can run on no volume of a fleet, with their reasons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from writeamp.errors import RefusedError, WriteampError
from writeamp.runs.inputs import prepare
from writeamp.runs.plan import policies_of
from writeamp.settings.experiment import Experiment
from writeamp.settings.settings import SimulationSettings
from writeamp.studies.simulation import plan_of
from writeamp.studies.working_op import reason_and_op, refusal
from writeamp.volumes.jobs import VolumeJob, page_bytes, pages_of

# Keys of a policy that is not omitted.
NOT_OMITTED: dict[str, Any] = {"reason": None, "working_op": None}


@dataclass(frozen=True)
class OmittedPolicy:
    """Policy that can run on no volume.

    Attributes:
        reason: sentence on why it cannot run on the smallest volume; it ends with an op that works,
            if there is one.
        working_op: smallest op in whole per cents at which it can run there, or None. A larger
            volume has more spare pages at the same op.
    """

    reason: str
    working_op: float | None

    @property
    def facts(self) -> dict[str, Any]:
        """Reason and op as JSON types."""
        return vars(self)


def omitted_policy(tables: Mapping[str, Any], job: VolumeJob, error: str) -> OmittedPolicy:
    """Return a policy that can run on no volume.

    Args:
        tables: the experiment without trace and policy, in the form of `Experiment.to_dict`.
        job: run of the smallest volume.
        error: why that run was refused.
    """
    try:
        base = Experiment.from_dict(tables, verb="simulate")
        experiment = base.with_settings(
            trace=pages_of(job.volume, page_bytes(base)), manager=job.manager, victims=job.victims
        )
        prepared, [policy] = prepare(experiment), policies_of(experiment.policy)
        assert isinstance(experiment.run, SimulationSettings)
        plan = plan_of(prepared, experiment, policy, experiment.run)
        refused = refusal(plan, prepared.drive, experiment.run.seed)
    except WriteampError:
        return OmittedPolicy(error, None)
    if refused is None:  # it was refused later, when the drive was filled
        return OmittedPolicy(error, None)
    seed = experiment.run.seed
    reason, op = reason_and_op(RefusedError(error), experiment, plan, prepared.drive.op, seed)
    return OmittedPolicy(reason, op)


def sentences_on(omitted: Mapping[str, OmittedPolicy]) -> list[str]:
    """Return a sentence with the reason of each omitted policy."""
    return [f"{label} cannot run: {policy.reason}" for label, policy in omitted.items()]
