"""Recorder of a machine's block requests: issued requests, their processes and their files."""

from writeamp.fields.arguments import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
