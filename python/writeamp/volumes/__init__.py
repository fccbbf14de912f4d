"""Fleets: the volumes of many users in one trace, made, split, chosen and run."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
