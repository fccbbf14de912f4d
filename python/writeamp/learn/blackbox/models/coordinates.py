"""Coordinates of a Gaussian process: features from 0 to 1, their ends as extra kinds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from writeamp.learn.blackbox.models.terms import terms_of

F64 = npt.NDArray[np.float64]

# An end of a feature's range is a kind of its own if this share of the rows has it, or more, and
# others have not: workloads that never write, or are sequential throughout.
_LEAST_SHARE = 0.02


@dataclass(frozen=True)
class Coordinates:
    """Map from rows of features to the points of a Gaussian process.

    Attributes:
        low, high: the range of each feature in the training rows; shape (features,).
        units: the least value above 0 of a feature that spans magnitudes, whose coordinate is a
            logarithm; 0 of the others; shape (features,).
        ends: features and the values at which they are a kind of their own.
    """

    low: F64
    high: F64
    units: F64
    ends: tuple[tuple[int, float], ...]

    @property
    def origins(self) -> npt.NDArray[np.int64]:
        """The feature that each coordinate comes from; shape (coordinates,)."""
        return np.array([*range(len(self.low)), *(feature for feature, _ in self.ends)])

    def of(self, features: F64) -> F64:
        """Return the points of rows of features; shape (rows, coordinates).

        What is beyond the training rows' range is taken to be at its end, but of no kind there.
        """
        within = np.clip(features, self.low, self.high)
        found = np.empty((len(features), len(self.low) + len(self.ends)))
        for place, unit in enumerate(self.units):
            values, ends = within[:, place], np.array([self.low[place], self.high[place]])
            if unit:
                values, ends = (np.log(np.maximum(one, unit)) for one in (values, ends))
            found[:, place] = (values - ends[0]) / ((ends[1] - ends[0]) or 1.0)
        for place, (feature, value) in enumerate(self.ends, len(self.low)):
            found[:, place] = features[:, feature] == value
        return found


def coordinates_of(features: F64) -> Coordinates:
    """Return the coordinates that suit these training rows.

    What is never below 0 nor above 1 is a share, whose ends are kinds of their own; of others 0 is.
    Logarithms stand for what is no share, never below 0, and spans a factor of 8 above it.
    """
    terms = terms_of(features, with_logs=True)
    low, high = features.min(axis=0), features.max(axis=0)
    is_share = (low >= 0) & (high <= 1)
    units = np.zeros(len(low))
    units[list(terms.logs)] = terms.units
    units[is_share] = 0.0
    ends = [
        (place, value)
        for place, column in enumerate(features.T)
        for value in ((0.0, 1.0) if is_share[place] else (0.0,))
        if _LEAST_SHARE <= np.mean(column == value) <= 1 - _LEAST_SHARE
    ]
    return Coordinates(low, high, units, tuple(ends))
