"""writeamp: predict, simulate, run and measure the write amplification of flash SSDs.

import writeamp as wa
result = wa.simulate(workload="hot-cold:f=0.1,r=0.9", victims="d-choices:d=10", op=0.15)
print(result.wa, result.ci, result.causes)
"""

from writeamp import allocation, meanfield, models, traces
from writeamp._engine import __version__
from writeamp.devices.device import Device, device
from writeamp.errors import WriteampError
from writeamp.experiments.comparison_result import Comparison
from writeamp.experiments.experiment import Experiment
from writeamp.experiments.functions import compare, endurance, run, simulate
from writeamp.experiments.lifetime_result import Endurance
from writeamp.experiments.simulation_result import Result
from writeamp.registry.specs import Spec, manager, victims, wear_leveling, workload
from writeamp.theory.prediction import Prediction, predict, predict_sweep

__all__ = [
    "Comparison",
    "Device",
    "Endurance",
    "Experiment",
    "Prediction",
    "Result",
    "Spec",
    "WriteampError",
    "__version__",
    "allocation",
    "compare",
    "device",
    "endurance",
    "manager",
    "meanfield",
    "models",
    "predict",
    "predict_sweep",
    "run",
    "simulate",
    "traces",
    "victims",
    "wear_leveling",
    "workload",
]
