"""writeamp: predict, simulate, run and measure the write amplification of flash SSDs.

import writeamp as wa
result = wa.simulate(workload="hot-cold:f=0.1,r=0.9", victims="d-choices:d=10", op=0.15)
print(result.wa, result.ci, result.causes)
"""

from __future__ import annotations

from writeamp.later import names_from

TYPE_CHECKING = False  # as that of `typing`, which takes long to import
if TYPE_CHECKING:
    from writeamp import allocation, meanfield, models, traces
    from writeamp._engine import __version__
    from writeamp.devices.device import Device, device
    from writeamp.errors import Interrupted, PolicyError, WriteampError
    from writeamp.experiments.comparison_result import Comparison
    from writeamp.experiments.experiment import Experiment
    from writeamp.experiments.functions import compare, endurance, run, simulate
    from writeamp.experiments.lifetime_result import Endurance
    from writeamp.experiments.simulation_result import Result
    from writeamp.experiments.timed_result import TimedResult
    from writeamp.own import NEVER, Placement, VictimPolicy, compiled, placement, victim_policy
    from writeamp.registry.specs import Spec, manager, victims, wear_leveling, workload
    from writeamp.sizing.curve_result import OpCurve
    from writeamp.sizing.functions import required_op, wa_over_op
    from writeamp.sizing.required_op_result import RequiredOp
    from writeamp.sweeps.functions import sweep
    from writeamp.sweeps.result import Sweep
    from writeamp.sweeps.results import SweepResults, sweep_results
    from writeamp.theory.answers import Prediction
    from writeamp.theory.prediction import predict, predict_sweep
    from writeamp.vssd.result import ServeResult
    from writeamp.vssd.virtual_ssd import VirtualSsd

__all__ = [
    "NEVER",
    "Comparison",
    "Device",
    "Endurance",
    "Experiment",
    "Interrupted",
    "OpCurve",
    "Placement",
    "PolicyError",
    "Prediction",
    "RequiredOp",
    "Result",
    "ServeResult",
    "Spec",
    "Sweep",
    "SweepResults",
    "TimedResult",
    "VictimPolicy",
    "VirtualSsd",
    "WriteampError",
    "__version__",
    "allocation",
    "compare",
    "compiled",
    "device",
    "endurance",
    "manager",
    "meanfield",
    "models",
    "placement",
    "predict",
    "predict_sweep",
    "required_op",
    "run",
    "simulate",
    "sweep",
    "sweep_results",
    "traces",
    "victim_policy",
    "victims",
    "wa_over_op",
    "wear_leveling",
    "workload",
]

# Where each name comes from. All of it takes a second to import, in which the command could not
# hear Ctrl-C; so each is imported when it is first asked for.
_HOMES = {
    "_engine": ("__version__",),
    "devices.device": ("Device", "device"),
    "errors": ("Interrupted", "PolicyError", "WriteampError"),
    "experiments.comparison_result": ("Comparison",),
    "experiments.experiment": ("Experiment",),
    "experiments.functions": ("compare", "endurance", "run", "simulate"),
    "experiments.lifetime_result": ("Endurance",),
    "sizing.curve_result": ("OpCurve",),
    "sizing.functions": ("required_op", "wa_over_op"),
    "sizing.required_op_result": ("RequiredOp",),
    "experiments.simulation_result": ("Result",),
    "experiments.timed_result": ("TimedResult",),
    "own": (
        "NEVER",
        "Placement",
        "VictimPolicy",
        "compiled",
        "placement",
        "victim_policy",
    ),
    "registry.specs": ("Spec", "manager", "victims", "wear_leveling", "workload"),
    "sweeps.functions": ("sweep",),
    "sweeps.result": ("Sweep",),
    "sweeps.results": ("SweepResults", "sweep_results"),
    "theory.answers": ("Prediction",),
    "theory.prediction": ("predict", "predict_sweep"),
    "vssd.result": ("ServeResult",),
    "vssd.virtual_ssd": ("VirtualSsd",),
}
__getattr__, __dir__ = names_from("writeamp", _HOMES)
