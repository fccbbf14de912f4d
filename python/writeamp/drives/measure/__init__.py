"""Measurements of real drives, as users import them: `wa.measure`."""

from writeamp.fields.arguments import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
