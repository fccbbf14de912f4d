"""The mean field of d-choices collection with hot/cold write frontiers (paper 4, section 3).

import writeamp as wa
drive = {"pages_per_block": 32, "spare_factor": 0.12, "hot_fraction": 0.2}
point = wa.meanfield.hot_cold_swap(**drive, d=50, d_swap=8, hot_write_fraction=0.77)
print(point.wa, point.residual, point.ill_conditioned)  # 3.37248…

docs/meanfield.md has the route, its conditioning and its limits.
"""

from __future__ import annotations

from writeamp.theory.meanfield.fixed_point import FixedPoint, hot_cold, hot_cold_swap
from writeamp.theory.meanfield.parameters import Parameters
from writeamp.theory.meanfield.trajectory import Trajectory, transient

__all__ = ["FixedPoint", "Parameters", "Trajectory", "hot_cold", "hot_cold_swap", "transient"]
