"""Fleets: the volumes of many users in one trace, made, split, chosen and run."""

from writeamp.fields.arguments import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
