"""Placements and victim policies of users, written in Python: their classes and their files."""

from writeamp.fields.arguments import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
