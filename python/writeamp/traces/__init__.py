"""Block traces of real programs: read, described, converted, and turned into page writes."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
