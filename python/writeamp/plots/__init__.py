"""Figures: each figure function returns a specification; `save` draws it.

Formats are .png, .svg, .pdf and .html. Specifications are independent of drawing libraries. `save`
imports the library for the suffix of the path.
"""

from writeamp.fields.arguments import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
