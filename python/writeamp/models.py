"""Analytic models of write amplification under uniform random writes: NumPy in, NumPy out.

One file holds one model and ends with its registry entry. `MODELS` (in `_registry.py`) is what
computations, the documentation and the tests read, `MODEL_NAMES` what options do. To add a model,
write its file and add its name to `theory/words.py`.
"""

from __future__ import annotations

from writeamp.theory.models._model import Model, ModelInputs
from writeamp.theory.models._registry import MODELS, find_model
from writeamp.theory.models.coupon_collector import coupon_collector
from writeamp.theory.models.d_choices import d_choices
from writeamp.theory.models.effective_op import effective_op
from writeamp.theory.models.expected_value import expected_value
from writeamp.theory.models.fifo import fifo
from writeamp.theory.models.markov import markov
from writeamp.theory.models.required_op import required_op
from writeamp.theory.models.uniform_distribution import uniform_distribution

Drive = ModelInputs  # an older name, which goes on working

__all__ = [
    "MODELS",
    "Drive",
    "Model",
    "ModelInputs",
    "coupon_collector",
    "d_choices",
    "effective_op",
    "expected_value",
    "fifo",
    "find_model",
    "markov",
    "required_op",
    "uniform_distribution",
]
