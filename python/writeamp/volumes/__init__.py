"""Fleets: traces of the volumes of many users, which are made, split, selected and run."""

from writeamp.fields.arguments import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
