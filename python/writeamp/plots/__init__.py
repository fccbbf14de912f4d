"""Figures: one function a figure describes it, `save` draws it to .png, .svg, .pdf or .html.

A figure function returns a specification without any drawing library in it; the suffix of the
path decides which library draws it, and only then is that library imported.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
