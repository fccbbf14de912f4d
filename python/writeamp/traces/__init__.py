"""Block traces of real programs: read, described, converted, and turned into page writes."""

from writeamp.fields.arguments import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
