"""Black-box models: a drive's performance as a function of its workload (paper 2)."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
