"""Twins: hidden parameters of a real drive, learned from the write amplification of one run."""

from writeamp.fields.arguments import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
