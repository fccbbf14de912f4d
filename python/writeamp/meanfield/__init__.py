"""Mean field of d-choices collection with hot and cold write frontiers (paper 4, section 3).

import writeamp as wa
drive = {"pages_per_block": 32, "spare_factor": 0.12, "hot_fraction": 0.2}
point = wa.meanfield.hot_cold_swap(**drive, d=50, d_swap=8, hot_write_fraction=0.77)
print(point.wa, point.residual, point.ill_conditioned)  # 3.37248…

Under Rosenblum's workload, a share `hot_fraction` (the paper's f) of all logical pages is hot and
gets a share `hot_write_fraction` (r) of the writes. HCWF and HCWF(swap) are the write modes of
Van Houdt 2014 and of Verschoren and Van Houdt 2019, equations 1 to 5. docs/meanfield.md describes
the solution, its conditioning and its limits.
"""

from writeamp.fields.arguments import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
