"""Error of scaling: smaller drives that stand for the one that is meant (docs/capacity.md)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from writeamp.results.numbers import json_number

# The drive that tells the error of scaling is smaller by this.
SMALLER = 4
# A share of WA by which scaling may move it before a reader should hear of that.
_MATERIAL = 0.01


@dataclass(frozen=True)
class Measured:
    """Measured value, its interval, and whether it is steady."""

    value: float
    ci: tuple[float, float]
    steady: bool = True

    @property
    def is_known(self) -> bool:
        """True if it can be compared with another value."""
        return self.steady and not any(math.isnan(one) for one in (self.value, *self.ci))


@dataclass(frozen=True)
class Scale:
    """Scale of a smaller drive, of which the one that is meant is `factor` times as large."""

    capacity_bytes: int
    simulated_bytes: int
    factor: float
    not_scaled: tuple[str, ...] = ()
    """Sentences on parameters of policies that are in another proportion to the smaller drive."""

    @property
    def is_exact(self) -> bool:
        """True if the drive that is meant is itself simulated."""
        return self.factor == 1

    @property
    def warnings(self) -> list[str]:
        """Warnings on what no error of scaling covers."""
        return [
            f"{sentence}; WA of the drive that is meant may be another by more than the error of "
            "scaling; --size simulates a drive of its own size"
            for sentence in self.not_scaled
        ]

    @property
    def steps(self) -> float:
        """Number of growths like that from the drive which tells the error up to the one meant."""
        return max(1.0, math.log(self.factor, SMALLER))


@dataclass(frozen=True)
class Scaling:
    """Error of a smaller drive that stands for the one that is meant.

    `error` is by how much WA may be another on that drive: by how much it changed from a drive of a
    quarter of the simulated size, or as much as noise would hide; NaN where none so small can run,
    or where that is not known of one of the two, as it has no interval or is not steady.
    """

    scale: Scale
    error: float

    def widened(self, interval: tuple[float, float]) -> tuple[float, float]:
        """Return an interval of WA for the drive that is meant."""
        return widened(interval, self.error, least=1.0)

    def warnings(self, wa: float) -> list[str]:
        """Return the warnings on the error, and on what it does not cover."""
        return [*self.warnings_of_error(wa), *self.scale.warnings]

    def warnings_of_error(self, wa: float) -> list[str]:
        """Return the warnings on an error that is large or unknown."""
        if math.isnan(self.error):
            return [
                "the error of scaling is not known, since the drive that is simulated and one of a "
                "quarter of its size do not both have a steady WA with an interval; --size "
                "simulates a drive of its own size"
            ]
        if self.error <= _MATERIAL * wa:
            return []
        return [
            f"WA of the drive that is meant may be another by {self.error / wa:.1%}, as it changed "
            "by so much from a quarter of the simulated size; --size simulates a drive of its own "
            "size"
        ]

    def facts(self) -> dict[str, float | int | None]:
        """Return scale and error as JSON types."""
        return {
            "capacity_bytes": self.scale.capacity_bytes,
            "simulated_bytes": self.scale.simulated_bytes,
            "scale_factor": self.scale.factor,
            "scaling_error": json_number(self.error),
        }


def scaling_of(scale: Scale, ours: Measured, other: Measured | None) -> Scaling:
    """Return the error of the simulated drive against the one that is meant.

    Args:
        scale: the simulated drive.
        ours: WA of it.
        other: that of the drive that tells the error; None if there is none.
    """
    if scale.is_exact:
        return Scaling(scale, 0.0)
    return Scaling(scale, math.nan if other is None else difference(ours, other))


def difference(ours: Measured, other: Measured) -> float:
    """Return by how much two values differ, or the noise that would hide it if that is more.

    NaN unless both are known.
    """
    if not (ours.is_known and other.is_known):
        return math.nan
    noise = math.hypot(*((one.ci[1] - one.ci[0]) / 2 for one in (ours, other)))
    return max(abs(ours.value - other.value), noise)


def widened(
    interval: tuple[float, float], error: float, *, least: float = 0.0
) -> tuple[float, float]:
    """Return an interval widened by an error to either side; an unknown one adds nothing."""
    low, high = interval
    if math.isnan(error) or math.isnan(low):
        return interval
    return max(low - error, least), high + error
