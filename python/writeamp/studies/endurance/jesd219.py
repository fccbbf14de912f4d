"""Life of a drive under JESD219, the workload under which TBW and DWPD are rated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from writeamp.errors import Interrupted, WriteampError
from writeamp.registry.specs import Spec
from writeamp.settings.device import DeviceSettings
from writeamp.settings.experiment import Experiment
from writeamp.settings.settings import EnduranceSettings, LoadSettings
from writeamp.studies.endurance.result import Endurance

WORKLOAD = "jesd219"
# Lives under JESD219; a user who needs a narrower interval makes it the workload.
_REPLICAS = 3


def with_jesd219(
    experiment: Experiment, result: Endurance, worn_out: Callable[[Experiment], Endurance]
) -> Endurance:
    """Return lives with those of the same drive and policies under JESD219.

    Lives that were not finished, and drives that are too small for its requests, have none.

    Args:
        experiment: experiment of the lives.
        result: its result.
        worn_out: runs an experiment.

    Raises:
        Interrupted: Ctrl-C; it carries `result`.
    """
    plan = result.plan
    if result.unfinished or plan.load_name == WORKLOAD:
        return result
    settings = experiment.run
    assert isinstance(settings, EnduranceSettings)
    variant = Experiment(
        device=DeviceSettings(profile=plan.device),
        load=LoadSettings(
            workload=Spec.of("workloads", WORKLOAD), precondition=experiment.load.precondition
        ),
        policy=experiment.policy,
        run=replace(settings, replicas=min(settings.replicas, _REPLICAS)),
    )
    try:
        lives = worn_out(variant)
    except Interrupted:
        raise Interrupted(result) from None
    except WriteampError:
        return result
    rated_plan = replace(lives.plan, capacity_bytes=result.capacity_bytes)
    return replace(result, rated=replace(lives, plan=rated_plan))
