"""Twins: models of real drives, whose hidden parameters are learned from WA in one run."""

from writeamp.fields.arguments import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
