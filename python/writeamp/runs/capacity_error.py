"""Errors of WA and lifetimes that were simulated on a scaled-down drive (docs/capacity.md)."""

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

# The scaling error is estimated from a second drive, which is smaller by this factor.
SMALLER = 4
# Share of WA above which a scaling error is reported as a warning.
_MATERIAL = 0.01


class JudgedWa(Protocol):
    """WA of a run, its interval, and whether the WA is steady."""

    @property
    def wa(self) -> float:
        """Write amplification."""

    @property
    def error_bar(self) -> tuple[float, float]:
        """Interval of the WA, with 95% probability."""

    @property
    def steady(self) -> bool:
        """True if the WA is steady."""


@dataclass(frozen=True)
class Scale:
    """Scale of a smaller drive: the requested drive is `factor` times as large."""

    capacity_bytes: int
    simulated_bytes: int
    factor: float
    not_scaled: tuple[str, ...] = ()
    """Sentences on policy parameters that could not be scaled in proportion to the drive."""
    unit_factor: float = 1.0
    """Erase unit of the requested drive divided by that of the simulated drive."""

    @property
    def is_exact(self) -> bool:
        """True if the requested drive itself is simulated."""
        return self.factor == 1

    @property
    def warnings(self) -> list[str]:
        """Warnings on effects that the scaling error does not include."""
        return [
            f"{sentence}; WA of the requested drive may differ by more than the scaling error; "
            "give --size to simulate the full size"
            for sentence in self.not_scaled
        ]

    @property
    def steps(self) -> float:
        """Number of steps of a factor `SMALLER` from simulated to requested size, at least 1."""
        return max(1.0, math.log(self.factor, SMALLER))

    def facts(self) -> dict[str, float | int]:
        """Return both sizes in bytes and the scale factor, as JSON types."""
        return {
            "capacity_bytes": self.capacity_bytes,
            "simulated_bytes": self.simulated_bytes,
            "scale_factor": self.factor,
        }


@dataclass(frozen=True)
class ScalingError(Substitute):
    """Error of a WA that was simulated on a scaled-down drive.

    `error` estimates the difference between this WA and WA on the requested drive. It is the
    difference in WA between the simulated drive and a drive of a quarter of its size, or the noise
    of these two WA if that is larger. The error is NaN if the smaller drive cannot run, or if one
    of the two WA has no interval or is not steady. It is 0 if the requested drive is simulated.
    """

    scale: Scale
    error: float

    @staticmethod
    def of(scale: Scale, ours: JudgedWa, other: JudgedWa | None) -> ScalingError:
        """Return the error of a WA on the simulated drive, as an estimate for the requested drive.

        Args:
            scale: scale of the simulated drive.
            ours: result on the simulated drive.
            other: result on the drive of a quarter of its size; None if that drive cannot run.
        """
        if scale.is_exact:
            return ScalingError(scale, 0.0)
        if other is None or not (_is_known(ours) and _is_known(other)):
            return ScalingError(scale, math.nan)
        return ScalingError(scale, _difference(ours.wa, ours.error_bar, other.wa, other.error_bar))

    def widened(self, interval: tuple[float, float]) -> tuple[float, float]:
        """Return an interval of WA, widened by the scaling error."""
        return widened(interval, self.error, least=1.0)

    def warnings_of_wa(self, wa: float) -> list[str]:
        """Return a warning if the error is large or unknown."""
        if math.isnan(self.error):
            return [
                "the scaling error is not known, because a steady WA with an interval is needed on "
                "the simulated drive and on one of a quarter of its size; give --size to simulate "
                "the full size"
            ]
        if self.error <= _MATERIAL * wa:
            return []
        return [
            f"WA of the requested drive may differ by {self.error / wa:.1%}, as WA does between "
            "the simulated drive and one of a quarter of its size; give --size to simulate the "
            "full size"
        ]

    def warnings_of_drive(self) -> list[str]:
        """Return warnings on effects that the scaling error does not include."""
        return self.scale.warnings

    def facts_of_wa(self) -> dict[str, float | int | None]:
        """Return the error as JSON types."""
        return {"scaling_error": json_number(self.error)}

    def facts_of_drive(self) -> dict[str, float | int | None]:
        """Return the scale as JSON types."""
        return {**self.scale.facts()}

    @property
    def error_of_wa(self) -> float:
        """Error of the WA due to scaling; NaN if it is unknown."""
        return self.error

    def drives_suffix(self) -> str:
        """Return the requested capacity, as the end of a phrase on the simulated drives."""
        capacity = shown_bytes(self.scale.capacity_bytes)
        return f", scaled down from {capacity} ({self.scale.factor:.4g}:1)"

    def legend(self, of_rows: Mapping[str, Substitute]) -> str:
        """Return a line on the simulated drive, and on the scaling error of each row."""
        scale = self.scale
        errors = ", ".join(
            f"{name} {'unknown' if math.isnan(error) else f'{error:.4f}'}"
            for name, error in ((name, row.error_of_wa) for name, row in of_rows.items())
        )
        return (
            f"capacity {scale.capacity_bytes:,} bytes, simulated as "
            f"{shown_bytes(scale.simulated_bytes)}, {scale.factor:.4g}:1; scaling error, included "
            f"in the intervals if known: {errors}"
        )

    def rows(self) -> list[tuple[str, str]]:
        """Return table rows on the simulated drive and its scaling error."""
        scale = self.scale
        capacity = f"{scale.capacity_bytes:,} bytes = {shown_bytes(scale.capacity_bytes)}"
        if scale.is_exact:
            return [("capacity", f"{capacity}, simulated at full size")]
        simulated = f"simulated as {shown_bytes(scale.simulated_bytes)}, {scale.factor:.4g}:1"
        error = f"±{self.error:.4f} of WA, included in its interval"
        if math.isnan(self.error):
            error = "not known, and not included in the interval of WA"
        return [("capacity", f"{capacity}, {simulated}"), ("scaling error", error)]


@dataclass(frozen=True)
class LifeScalingErrors:
    """Errors of the results of lifetimes that were simulated on scaled-down drives.

    Each error is based on the change from drives of a quarter of the simulated size to the
    simulated drives, or on the noise of both results if that is larger. WA approaches a limit as
    drives grow, so its error is this change. Fairness and endurance approach no limit: with more
    blocks, the first block wears out earlier. So their errors are this change times the number of
    factors of 4 between the simulated and the requested size (`Scale.steps`). All errors are NaN if
    no drive of a quarter of the simulated size can run, or if there is only one life.
    """

    scale: Scale
    wa: float
    pe_fairness: float
    endurance_full_drive_writes: float
    drive_writes: float

    @staticmethod
    def of(scale: Scale, ours: _OfLives, others: _OfLives | None) -> LifeScalingErrors:
        """Return the errors, from results by the names of the fields.

        Args:
            scale: scale of the simulated drives.
            ours: results of their lives by field, each an array over the lives.
            others: results of drives of a quarter of the simulated size, as `ours`, or None.
        """
        if scale.is_exact or others is None:
            error = 0.0 if scale.is_exact else math.nan
            return LifeScalingErrors(scale, *[error] * 4)
        errors = {name: _difference_of_means(ours[name], others[name]) for name in ours}
        wa_error = errors.pop("wa")
        return LifeScalingErrors(
            scale, wa_error, **{name: scale.steps * error for name, error in errors.items()}
        )

    def widened(self, interval: tuple[float, float], name: str) -> tuple[float, float]:
        """Return an interval of the named field, widened by the scaling error."""
        return widened(interval, getattr(self, name), least=1.0 if name == "wa" else 0.0)

    def facts(self) -> dict[str, float | int | None]:
        """Return the scale and the errors as JSON types."""
        errors = {
            "scaling_error": self.wa,
            "pe_fairness_scaling_error": self.pe_fairness,
            "endurance_scaling_error": self.endurance_full_drive_writes,
        }
        return self.scale.facts() | {name: json_number(error) for name, error in errors.items()}

    def rows(self, requested: str) -> list[tuple[str, str]]:
        """Return table rows on the simulated drive; `requested` describes the requested one."""
        if self.scale.is_exact:
            return [("", f"{requested}, simulated at full size")]
        simulated = f"simulated as {shown_bytes(self.scale.simulated_bytes)}"
        rows = [("", f"{requested}, {simulated}, {self.scale.factor:.4g}:1")]
        if math.isnan(self.wa):
            return [*rows, ("scaling error", "not known, and not included in the intervals")]
        errors = (
            f"±{self.wa:.4f} of WA, ±{self.pe_fairness:.4f} of fairness, "
            f"±{self.endurance_full_drive_writes:,.2f} of endurance, included in their intervals"
        )
        return [*rows, ("scaling error", errors)]


def widened(
    interval: tuple[float, float], error: float, *, least: float = 0.0
) -> tuple[float, float]:
    """Return an interval widened by an error on both sides; a NaN error does not widen it.

    The lower end is not moved below `least`.
    """
    low, high = interval
    if math.isnan(error) or math.isnan(low):
        return interval
    return max(low - error, least), high + error


def _is_known(result: JudgedWa) -> bool:
    """Return whether a result is steady and has an interval, so that it can be compared."""
    return result.steady and not any(
        math.isnan(number) for number in (result.wa, *result.error_bar)
    )


def _difference(
    value: float, ci: tuple[float, float], other: float, other_ci: tuple[float, float]
) -> float:
    """Return the absolute difference of two values, or their combined noise if that is larger.

    The noise is the root of the sum of the squared half widths of both intervals.
    """
    noise = math.hypot(*((high - low) / 2 for low, high in (ci, other_ci)))
    return max(abs(value - other), noise)


def _difference_of_means(ours: npt.NDArray[np.float64], others: npt.NDArray[np.float64]) -> float:
    """Return `_difference` of means over lives; NaN for a single life, which has no interval."""
    means = [(float(values.mean()), student_interval(values)) for values in (ours, others)]
    if any(math.isnan(number) for mean, ci in means for number in (mean, *ci)):
        return math.nan
    return _difference(*means[0], *means[1])
