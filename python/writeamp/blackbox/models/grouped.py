"""Fit models of any kind, with groups where they ask for them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import has_fit_parameter

F64 = npt.NDArray[np.float64]


def fitted(model: Any, features: F64, target: F64, groups: Any) -> Any:
    """Return the model fitted, with the groups if it asks for them."""
    if groups is not None and has_fit_parameter(model, "groups"):
        return model.fit(features, target, groups=groups)
    return model.fit(features, target)
