"""Analytic models of write amplification under uniform random writes: NumPy in, NumPy out.

One file holds one model and ends with its registry entry. `MODELS` (in `_registry.py`) is what
computations, the documentation and the tests read, `MODEL_NAMES` what options do. To add a model,
write its file and add its name to `names.py`.
"""

from writeamp.fields.arguments import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
