"""Terms and targets of models, as plain values or as logarithms (paper 2, section IV.A)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from writeamp.errors import WriteampError

F64 = npt.NDArray[np.float64]

# A feature gets a logarithm only if its values span at least this factor. Over a small factor such
# as 4, a logarithm is nearly a straight line, so it would add nothing.
_SPANS = 8.0


@dataclass(frozen=True)
class Terms:
    """Terms of a linear model: features, and the logarithms of some.

    Attributes:
        features: number of features; they are the first terms.
        logs: indices of features that also have a logarithm; these logarithms are the last terms.
        units: for each of these features, the unit in log(1 + x ÷ unit): its least training value
            above 0.
    """

    features: int
    logs: tuple[int, ...]
    units: tuple[float, ...]

    def of(self, features: F64) -> F64:
        """Convert rows of features to terms; shape (rows, terms), stored column by column."""
        columns = np.empty((len(features), self.features + len(self.logs)), order="F")
        columns[:, : self.features] = features
        for place, (feature, unit) in enumerate(zip(self.logs, self.units, strict=True)):
            columns[:, self.features + place] = self.log(features[:, feature], unit)
        return columns

    @staticmethod
    def log(values: F64, unit: float) -> F64:
        """Return log(1 + x ÷ unit); values below 0 are outside the training range and give 0."""
        logs: F64 = np.log1p(np.maximum(values, 0.0) / unit)
        return logs

    def origin(self, term: int) -> int:
        """Return the index of the feature that a term is computed from."""
        return term if term < self.features else self.logs[term - self.features]


def terms_of(features: F64, *, with_logs: bool) -> Terms:
    """Return the terms that suit these training rows.

    A feature has a logarithm if it is never below 0 and its values above 0 span a factor of 8.
    """
    logs: list[int] = []
    units: list[float] = []
    for place, column in enumerate(features.T if with_logs else ()):
        above = column[column > 0]
        if len(above) and column.min() >= 0 and above.max() > _SPANS * above.min():
            logs.append(place)
            units.append(float(above.min()))
    return Terms(features.shape[1], tuple(logs), tuple(units))


def to_model(target: F64, *, is_log: bool) -> F64:
    """Return the target or its logarithm; a value without logarithm is a `WriteampError`."""
    if not is_log:
        return target
    if not (target > 0).all():
        row = int(np.argmin(target > 0))
        raise WriteampError(
            f"the target of row {row} is {target[row]:g}; a log target needs values above 0"
        )
    logs: F64 = np.log(target)
    return logs


def to_target(fitted: F64, *, is_log: bool) -> F64:
    """Return fitted values in the unit of the target."""
    values: F64 = np.exp(fitted) if is_log else fitted
    return values
