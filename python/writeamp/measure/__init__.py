"""Measurements of real drives: Ready/Busy captures of their flash."""

from writeamp.fields.arguments import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
