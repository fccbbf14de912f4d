"""Figures: one function a figure describes it, `save` draws it to .png, .svg, .pdf or .html.

A figure function returns a specification without any drawing library in it; the suffix of the
path decides which library draws it, and only then is that library imported.
"""

from writeamp.fields.arguments import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
