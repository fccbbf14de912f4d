"""The mean field of d-choices collection with hot/cold write frontiers (paper 4, section 3).

import writeamp as wa
drive = {"pages_per_block": 32, "spare_factor": 0.12, "hot_fraction": 0.2}
point = wa.meanfield.hot_cold_swap(**drive, d=50, d_swap=8, hot_write_fraction=0.77)
print(point.wa, point.residual, point.ill_conditioned)  # 3.37248…

Under Rosenblum's workload the hot pages, a share `hot_fraction` (the paper's f) of all logical
pages, get a share `hot_write_fraction` (r) of the writes. HCWF and HCWF(swap) are the modes of
Van Houdt 2014 and of Verschoren and Van Houdt 2019, equations 1 to 5. docs/meanfield.md has the
route, its conditioning and its limits.
"""

from writeamp.fields.arguments import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
