"""Division of over-provisioned space between groups of pages: NumPy in, NumPy out.

Dayan, Bouganim and Bonnet 2015 (paper 3), section 5.5: by size, by frequency, their closed form
and the exact optimum, each with the write amplification that it leads to; an allocation that
follows measurements; and the exploration of every workload made of equal chunks.
"""

from writeamp.fields.arguments import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
