"""Division of over-provisioned space between groups of pages: NumPy in, NumPy out.

Source: Dayan, Bouganim and Bonnet 2015 (paper 3), section 5.5. The methods are by size, by
frequency, the closed form and the exact optimum, each with its predicted write amplification.
`equal_gain` follows measured WA instead; `explore` covers every workload made of equal chunks.
"""

from writeamp.fields.arguments import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
