"""Analytic models of write amplification under uniform random writes: NumPy in, NumPy out.

One file holds one model and ends with its registry entry; `MODELS` (in `_registry.py`) is what the
command line, the documentation and the tests read. To add a model, write its file and add its
entry there.
"""

from __future__ import annotations

from writeamp.models._model import Drive, Model
from writeamp.models._registry import MODELS, find_model
from writeamp.models.coupon_collector import coupon_collector
from writeamp.models.d_choices import d_choices
from writeamp.models.effective_op import effective_op
from writeamp.models.expected_value import expected_value
from writeamp.models.fifo import fifo
from writeamp.models.markov import markov
from writeamp.models.required_op import required_op
from writeamp.models.uniform_distribution import uniform_distribution

__all__ = [
    "MODELS",
    "Drive",
    "Model",
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
