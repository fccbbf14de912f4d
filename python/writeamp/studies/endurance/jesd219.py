"""Life of a drive under JESD219, the workload under which TBW and DWPD are rated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from writeamp.errors import Interrupted, WriteampError
from writeamp.registry.specs import Spec
from writeamp.settings.device import DeviceSettings
from writeamp.settings.experiment import Experiment
from writeamp.settings.settings import EnduranceSettings, LoadSettings
from writeamp.studies.endurance.lives import JESD219
from writeamp.studies.endurance.result import Endurance

# Lives under JESD219; a user who needs a narrower interval makes it the workload.
_REPLICAS = 3


def with_jesd219(
    experiment: Experiment, result: Endurance, worn_out: Callable[[Experiment], Endurance]
) -> Endurance:
    """Return lives with those of the same drive and policies under JESD219.

    Lives that were not finished have none. If the drive cannot run it, the reason is stated.

    Args:
        experiment: experiment of the lives.
        result: its result.
        worn_out: runs an experiment.

    Raises:
        Interrupted: Ctrl-C; it carries `result`.
    """
    load = result.plan.load
    if result.unfinished or result.under_jesd219 is not None:
        return result
    settings = experiment.run
    assert isinstance(settings, EnduranceSettings)
    variant = replace(
        experiment,
        # A drive that is fitted to a trace has its size by the trace.
        device=experiment.device
        if experiment.device.is_sized or isinstance(load, Spec)
        else DeviceSettings(profile=result.plan.device),
        load=LoadSettings(
            workload=Spec.of("workloads", JESD219), precondition=experiment.load.precondition
        ),
        run=replace(settings, replicas=min(settings.replicas, _REPLICAS)),
    )
    try:
        return replace(result, rated=worn_out(variant))
    except Interrupted:
        raise Interrupted(result) from None
    except WriteampError as refused:
        return replace(result, why_unrated=str(refused))
