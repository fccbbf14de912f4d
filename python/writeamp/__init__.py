"""writeamp: predict, simulate, run and measure the write amplification of flash SSDs.

import writeamp as wa
result = wa.simulate(workload="hot-cold:f=0.1,r=0.9", victims="d-choices:d=10", op=0.15)
print(result.wa, result.ci, result.causes)
"""

from writeamp import allocation, meanfield, models, traces
from writeamp._engine import __version__
from writeamp.comparison import Comparison, compare
from writeamp.device import Device, device
from writeamp.endurance import endurance
from writeamp.errors import WriteampError
from writeamp.life import Endurance
from writeamp.prediction import Prediction, predict, predict_sweep
from writeamp.result import Result
from writeamp.simulation import simulate

__all__ = [
    "Comparison",
    "Device",
    "Endurance",
    "Prediction",
    "Result",
    "WriteampError",
    "__version__",
    "allocation",
    "compare",
    "device",
    "endurance",
    "meanfield",
    "models",
    "predict",
    "predict_sweep",
    "simulate",
    "traces",
]
