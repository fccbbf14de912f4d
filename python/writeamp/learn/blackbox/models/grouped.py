"""Fitting of any kind of model, with groups, and without held-out folds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]


def fitted(model: Any, features: F64, target: F64, groups: Any) -> Any:
    """Return the model fitted, with the groups if it asks for them."""
    if groups is not None and has_fit_parameter(model, "groups"):
        return model.fit(features, target, groups=groups)
    return model.fit(features, target)


def predicted_unseen(
    model: Any, features: F64, target: F64, groups: Any, folds: Sequence[I64]
) -> F64:
    """Return each row's prediction by the model fitted without the row's fold.

    Args:
        model: not yet fitted; it stays so.
        features: shape (rows, features).
        target: shape (rows,).
        groups: of the rows, or None; shape (rows,).
        folds: the rows that each holds out, together all.
    """
    found = np.empty(len(target))
    for held_out in folds:
        kept = np.setdiff1d(np.arange(len(target)), held_out)
        own = None if groups is None else np.asarray(groups)[kept]
        one = fitted(clone(model), features[kept], target[kept], own)
        found[held_out] = one.predict(features[held_out])
    return found
