"""Smaller drives that stand for the one that is meant, and how well (docs/capacity.md)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from writeamp.errors import WriteampError

# The drive that tells the error of scaling is smaller by this.
SMALLER = 4
# A share of WA by which scaling may move it before a reader should hear of that.
_MATERIAL = 0.01

# A value and its interval.
Measured: TypeAlias = tuple[float, tuple[float, float]]


@dataclass(frozen=True)
class Scale:
    """A smaller drive that stands for the one that is meant, `factor` times as large."""

    capacity_bytes: int
    simulated_bytes: int
    factor: float

    @property
    def is_exact(self) -> bool:
        """True if the drive that is meant is itself simulated."""
        return self.factor == 1

    @property
    def steps(self) -> float:
        """How often the simulated drive would have to grow as from the one that tells the error."""
        return max(1.0, math.log(self.factor, SMALLER))


@dataclass(frozen=True)
class Scaling:
    """How well a smaller drive stands for the one that is meant.

    `error` is by how much WA may be another on that drive: by how much it changed from a drive of a
    quarter of the simulated size, or as much as noise would hide; NaN where none so small can run.
    """

    scale: Scale
    error: float

    def widened(self, interval: tuple[float, float]) -> tuple[float, float]:
        """Return an interval of WA for the drive that is meant."""
        return widened(interval, self.error, least=1.0)

    def warning(self, wa: float) -> str | None:
        """Return what a reader should know of an error that is large or unknown."""
        if math.isnan(self.error):
            return (
                "the error of scaling is not known, since no drive of a quarter of the simulated "
                "size can run; --size simulates a drive of its own size"
            )
        if self.error <= _MATERIAL * wa:
            return None
        return (
            f"WA of the drive that is meant may be another by {self.error / wa:.1%}, as it changed "
            "by so much from a quarter of the simulated size; --size simulates a drive of its own "
            "size"
        )

    def facts(self) -> dict[str, float | int | None]:
        """Return it as JSON types."""
        return {
            "capacity_bytes": self.scale.capacity_bytes,
            "simulated_bytes": self.scale.simulated_bytes,
            "scale_factor": self.scale.factor,
            "scaling_error": None if math.isnan(self.error) else self.error,
        }


def measured_scaling(
    scale: Scale, wa: float, ci: tuple[float, float], smaller: Callable[[], Measured]
) -> Scaling:
    """Return how well the simulated drive stands for the one that is meant.

    Args:
        scale: the simulated drive.
        wa: of the simulated drive.
        ci: the interval of `wa`.
        smaller: gives both on the drive that tells the error.
    """
    if scale.is_exact:
        return Scaling(scale, 0.0)
    try:
        other_wa, other_ci = smaller()
    except WriteampError:  # one so small can be too small for its manager
        return Scaling(scale, math.nan)
    return Scaling(scale, difference(wa, ci, other_wa, other_ci))


def difference(
    value: float, ci: tuple[float, float], other: float, other_ci: tuple[float, float]
) -> float:
    """Return by how much two values differ, or what their noise would hide if that is more."""
    noise = math.hypot(*((high - low) / 2 for low, high in (ci, other_ci)))
    return max(abs(value - other), 0.0 if math.isnan(noise) else noise)


def widened(
    interval: tuple[float, float], error: float, *, least: float = 0.0
) -> tuple[float, float]:
    """Return an interval that an error on either side is part of; one not known adds nothing."""
    low, high = interval
    if math.isnan(error) or math.isnan(low):
        return interval
    return max(low - error, least), high + error
