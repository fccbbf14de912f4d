"""Error of lifetimes that smaller drives show in the place of the drive that is meant."""

from __future__ import annotations

import math
from dataclasses import dataclass

from writeamp.results.numbers import json_number
from writeamp.runs.capacity_error import Scale


@dataclass(frozen=True)
class LifeScaling:
    """By how much what lives show may be another on the drive that is meant.

    The change from drives of a quarter of the simulated size, or as much as noise would hide. WA
    comes closer to its limit as drives grow. The wear of the most worn block does not: the more
    blocks, the earlier the first of them is worn out, so that of fairness and endurance the change
    counts once for each time that the simulated drive would have to grow as from its quarter. NaN
    where nothing so small can run.
    """

    scale: Scale
    wa: float
    pe_fairness: float
    endurance_full_drive_writes: float
    drive_writes: float

    @staticmethod
    def exact(scale: Scale) -> LifeScaling:
        """Return that of the drive that is meant itself."""
        return LifeScaling(scale, 0.0, 0.0, 0.0, 0.0)

    @staticmethod
    def unknown(scale: Scale) -> LifeScaling:
        """Return that of drives that have nothing to be held against."""
        return LifeScaling(scale, *(math.nan,) * 4)

    def facts(self) -> dict[str, float | int | None]:
        """Return it as JSON types."""
        errors = {
            "scaling_error": self.wa,
            "pe_fairness_scaling_error": self.pe_fairness,
            "endurance_scaling_error": self.endurance_full_drive_writes,
        }
        return {
            "capacity_bytes": self.scale.capacity_bytes,
            "simulated_bytes": self.scale.simulated_bytes,
            "scale_factor": self.scale.factor,
            **{name: json_number(error) for name, error in errors.items()},
        }
