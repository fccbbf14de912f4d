"""Twins: hidden parameters of a real drive, learnt from the write amplification of one run."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
