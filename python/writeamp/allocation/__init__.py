"""Division of over-provisioned space between groups of pages: NumPy in, NumPy out.

Source: Dayan, Bouganim and Bonnet 2015 (paper 3), section 5.5. The methods divide space by size, by
frequency, by the closed form, or at the exact optimum, and predict write amplification (WA).
`equal_gain` uses measured WA instead. `explore` compares methods in every workload made of equal
chunks.
"""

from writeamp.fields.arguments import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
