"""Errors of smaller drives that stand for the requested one (docs/capacity.md)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from writeamp.results.numbers import json_number
from writeamp.runs.substitute import Substitute
from writeamp.statistics.replicas import student_interval
from writeamp.units.byte_sizes import shown_bytes

_OfLives: TypeAlias = Mapping[str, npt.NDArray[np.float64]]

# The drive that tells the error of scaling is smaller by this.
SMALLER = 4
# A share of WA by which scaling may move it before a reader should hear of that.
_MATERIAL = 0.01


class JudgedWa(Protocol):
    """A result, or a row of one: WA, its interval, and whether it is steady."""

    @property
    def wa(self) -> float:
        """Write amplification."""

    @property
    def error_bar(self) -> tuple[float, float]:
        """Its 95% interval."""

    @property
    def steady(self) -> bool:
        """True if it lasts."""


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

    def facts(self) -> dict[str, float | int]:
        """Return the two sizes as JSON types."""
        return {
            "capacity_bytes": self.capacity_bytes,
            "simulated_bytes": self.simulated_bytes,
            "scale_factor": self.factor,
        }


@dataclass(frozen=True)
class ScalingError(Substitute):
    """Error of a smaller drive that stands for the one that is meant.

    `error` is by how much WA may be another on that drive: by how much it changed from a drive of a
    quarter of the simulated size, or as much as noise would hide; NaN where none so small can run,
    or where that is not known of one of the two, as it has no interval or is not steady.
    """

    scale: Scale
    error: float

    @staticmethod
    def of(scale: Scale, ours: JudgedWa, other: JudgedWa | None) -> ScalingError:
        """Return the error of the simulated drive against the one that is meant.

        Args:
            scale: the simulated drive.
            ours: what was found on it.
            other: what was found on the drive that tells the error; None if there is none.
        """
        if scale.is_exact:
            return ScalingError(scale, 0.0)
        if other is None or not (_is_known(ours) and _is_known(other)):
            return ScalingError(scale, math.nan)
        return ScalingError(scale, _difference(ours.wa, ours.error_bar, other.wa, other.error_bar))

    def widened(self, interval: tuple[float, float]) -> tuple[float, float]:
        """Return an interval of WA for the drive that is meant."""
        return widened(interval, self.error, least=1.0)

    def warnings_of_wa(self, wa: float) -> list[str]:
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

    def warnings_of_drive(self) -> list[str]:
        """Return the warnings on what the error does not cover."""
        return self.scale.warnings

    def facts_of_wa(self) -> dict[str, float | int | None]:
        """Return the error as JSON types."""
        return {"scaling_error": json_number(self.error)}

    def facts_of_drive(self) -> dict[str, float | int | None]:
        """Return the scale as JSON types."""
        return {**self.scale.facts()}

    @property
    def error_of_wa(self) -> float:
        """The `error`."""
        return self.error

    def stands_for(self) -> str:
        """Return the capacity, as the end of a sentence on the drives."""
        capacity = shown_bytes(self.scale.capacity_bytes)
        return f", which stand for {capacity} ({self.scale.factor:.4g}:1)"

    def legend(self, of_rows: Mapping[str, Substitute]) -> str:
        """Return a line on the drive that was simulated, and the error of each row."""
        scale = self.scale
        errors = ", ".join(
            f"{name} {'unknown' if math.isnan(one.error_of_wa) else f'{one.error_of_wa:.4f}'}"
            for name, one in of_rows.items()
        )
        return (
            f"capacity {scale.capacity_bytes:,} bytes, simulated as "
            f"{shown_bytes(scale.simulated_bytes)}, {scale.factor:.4g}:1; error of scaling, in the "
            f"intervals: {errors}"
        )

    def rows(self) -> list[tuple[str, str]]:
        """Return table rows on the drive that was simulated for a capacity, and on its error."""
        scale = self.scale
        capacity = f"{scale.capacity_bytes:,} bytes = {shown_bytes(scale.capacity_bytes)}"
        if scale.is_exact:
            return [("capacity", f"{capacity}, simulated as it is")]
        simulated = f"simulated as {shown_bytes(scale.simulated_bytes)}, {scale.factor:.4g}:1"
        error = "not known" if math.isnan(self.error) else f"±{self.error:.4f}"
        return [
            ("capacity", f"{capacity}, {simulated}"),
            ("error of scaling", f"{error} of WA, in its interval"),
        ]


@dataclass(frozen=True)
class LifeScalingErrors:
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
    def of(scale: Scale, ours: _OfLives, others: _OfLives | None) -> LifeScalingErrors:
        """Return the errors of what each life shows, by the names of the fields.

        Args:
            scale: the simulated drives.
            ours: what their lives show, an array over the lives each.
            others: the same of the drives that tell the error; None if there are none.
        """
        if scale.is_exact or others is None:
            error = 0.0 if scale.is_exact else math.nan
            return LifeScalingErrors(scale, *[error] * 4)
        errors = {name: _difference_of_means(ours[name], others[name]) for name in ours}
        of_wa = errors.pop("wa")
        return LifeScalingErrors(
            scale, of_wa, **{name: scale.steps * error for name, error in errors.items()}
        )

    def widened(self, interval: tuple[float, float], name: str) -> tuple[float, float]:
        """Return an interval of the field of that name for the drive that is meant."""
        return widened(interval, getattr(self, name), least=1.0 if name == "wa" else 0.0)

    def facts(self) -> dict[str, float | int | None]:
        """Return it as JSON types."""
        errors = {
            "scaling_error": self.wa,
            "pe_fairness_scaling_error": self.pe_fairness,
            "endurance_scaling_error": self.endurance_full_drive_writes,
        }
        return self.scale.facts() | {name: json_number(error) for name, error in errors.items()}

    def rows(self, meant: str) -> list[tuple[str, str]]:
        """Return table rows; `meant` is the drive that is meant in words."""
        if self.scale.is_exact:
            return [("", f"{meant}, simulated as it is")]
        simulated = f"simulated as {shown_bytes(self.scale.simulated_bytes)}"
        rows = [("", f"{meant}, {simulated}, {self.scale.factor:.4g}:1")]
        if math.isnan(self.wa):
            return [*rows, ("error of scaling", "not known, and in no interval")]
        errors = (
            f"±{self.wa:.4f} of WA, ±{self.pe_fairness:.4f} of fairness, "
            f"±{self.endurance_full_drive_writes:,.2f} of endurance, in their intervals"
        )
        return [*rows, ("error of scaling", errors)]


def widened(
    interval: tuple[float, float], error: float, *, least: float = 0.0
) -> tuple[float, float]:
    """Return an interval widened by an error to either side; an unknown one adds nothing."""
    low, high = interval
    if math.isnan(error) or math.isnan(low):
        return interval
    return max(low - error, least), high + error


def _is_known(found: JudgedWa) -> bool:
    """Return whether it can be compared with another."""
    return found.steady and not any(math.isnan(one) for one in (found.wa, *found.error_bar))


def _difference(
    value: float, ci: tuple[float, float], other: float, other_ci: tuple[float, float]
) -> float:
    """Return by how much two values differ, or the noise that would hide it if that is more."""
    noise = math.hypot(*((high - low) / 2 for low, high in (ci, other_ci)))
    return max(abs(value - other), noise)


def _difference_of_means(ours: npt.NDArray[np.float64], others: npt.NDArray[np.float64]) -> float:
    """Return the same of means over lives; NaN of a single life, which has no interval."""
    found = [(float(one.mean()), student_interval(one)) for one in (ours, others)]
    if any(math.isnan(number) for mean, ci in found for number in (mean, *ci)):
        return math.nan
    return _difference(*found[0], *found[1])
