"""Learner: an estimator that can be trained by its name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.compose import TransformedTargetRegressor

from writeamp.blackbox.models.saving import Saved

# Models learn fast from so many rows.
_FEW_ROWS = 400


@dataclass(frozen=True)
class Learner:
    """A kind of model; `kinds` has its name, and says what it is.

    Attributes:
        make: returns an estimator that is yet to be fitted; its arguments say whether to fit the
            logarithm of the target, and what the features are called.
        folds: of the cross-validation that its prediction intervals follow from; None for a forest,
            which has out-of-bag predictions.
        folds_of_few: the same of few rows, for a model that is clearly worse without a fifth of
            them, so that its intervals would be too wide; None for as many.
        saved: how its estimator is saved; None if that is one of scikit-learn's, or another's.
    """

    make: Callable[[bool, Sequence[str]], BaseEstimator]
    folds: int | None = 5
    folds_of_few: int | None = None
    saved: Saved | None = None

    def folds_for(self, rows: int) -> int | None:
        """Return the folds of the cross-validation of so many rows."""
        return (rows <= _FEW_ROWS and self.folds_of_few) or self.folds


def baseline(make: Callable[[], BaseEstimator]) -> Learner:
    """Return the learner that an estimator of others is, with or without logarithms."""
    return Learner(
        lambda is_log, _: (
            TransformedTargetRegressor(make(), func=np.log, inverse_func=np.exp)
            if is_log
            else make()
        )
    )
