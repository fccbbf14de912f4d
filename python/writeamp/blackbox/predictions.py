"""What a model says, and what it says of rows that it has not seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from writeamp.blackbox.scores import Score, score

F64 = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Predictions:
    """What a model says of one target; shape (rows,) each.

    Attributes:
        value: the predictions, in the unit of the target's column.
        low, high: the ends of the prediction intervals.
        outside: whether a characteristic lies outside the range of the training rows.
    """

    value: F64
    low: F64
    high: F64
    outside: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class HeldOut:
    """What was measured of one target, and what models say that have not seen it.

    Attributes:
        target: its name.
        observed: what was measured; shape (rows,), as the others.
        value: the predictions.
        low, high: the ends of their intervals.
    """

    target: str
    observed: F64
    value: F64
    low: F64
    high: F64

    @property
    def score(self) -> Score:
        """What the predictions are worth."""
        return score(self.target, self.observed, self.value, (self.low, self.high))
