"""Black-box models: a drive's performance as a function of its workload (paper 2)."""

from writeamp.fields.arguments import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
