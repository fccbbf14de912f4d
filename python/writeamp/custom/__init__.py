"""Users' placements and victim policies in Python: base classes, references and state."""

from writeamp.fields.arguments import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
