"""Analytic models of write amplification under uniform random writes: NumPy in, NumPy out.

Each file has one model and ends with its registry entry. Computations, documentation and tests use
`MODELS` (in `_registry.py`); options use `MODEL_NAMES`. To add a model, write its file, and add its
name to `names.py` and its function to `__init__.pyi` (docs/models.md).
"""

from writeamp.fields.arguments import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
