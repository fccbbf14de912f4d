"""Restoring of fitted estimators of scikit-learn from checked numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from writeamp.errors import WriteampError
from writeamp.fields.domains import Whole

# Gives an unfitted estimator what an archive says of a fitted one; the third argument rebuilds
# estimators in it.
Restore: TypeAlias = Callable[[Any, Mapping[str, Any], Callable[[Any], Any]], None]

# From the least to the greatest number that is finite.
FINITE = (-float(np.finfo(np.float64).max), float(np.finfo(np.float64).max))
# Ten times as many as any set of features has, and few enough for the memory of a blank fit.
_FEATURES = Whole(1, 1000)


def of_fitted(restore: Callable[[Any, Mapping[str, Any], int], None], **quickly: Any) -> Restore:
    """Return the `Restore` of an estimator that holds no others.

    Args:
        restore: gives an estimator, which is fitted to blank rows of the third argument's number of
            features, what predictions depend on. It is left out if the saved one was not fitted.
        quickly: parameters of the blank fit, so that it ends whatever the saved ones are.
    """

    def restored(model: Any, state: Mapping[str, Any], _: object) -> None:
        if "n_features_in_" in state:
            features = _FEATURES.check("n_features_in_", state["n_features_in_"])
            parameters = {name: getattr(model, name) for name in quickly}
            model.set_params(**quickly).fit(np.zeros((2, features)), np.ones(2))
            model.set_params(**parameters)
            restore(model, state, features)

    return restored


def depths_of(
    is_leaf: npt.NDArray[np.bool_], left: npt.NDArray[Any], right: npt.NDArray[Any]
) -> npt.NDArray[np.int64] | None:
    """Return the depth of each node of a tree, shape (nodes,); None if the nodes are no tree.

    Each node but the root is below one other, and behind it in the arrays: then every walk ends.
    """
    inner = np.flatnonzero(~is_leaf)
    below = np.array([left, right]).astype(np.int64)[:, inner]
    behind = np.arange(1, len(is_leaf))
    is_complete = len(is_leaf) > 0 and np.array_equal(np.sort(below, axis=None), behind)
    if not is_complete or (below <= inner).any():
        return None
    depths = np.zeros(len(is_leaf), dtype=np.int64)
    for node, pair in zip(inner, below.T, strict=True):
        depths[pair] = depths[node] + 1
    return depths


def check_fields(nodes: npt.NDArray[Any], valid: Mapping[str, tuple[float, float]]) -> None:
    """Refuse nodes of which a field has a number that is not from the first to the second."""
    for name, (least, most) in valid.items():
        values = nodes[name]
        if not ((values >= least) & (values <= most)).all():
            raise WriteampError(f"the nodes of its tree do not hold together: {name} is not valid")


def numbers(values: Any, count: int) -> npt.NDArray[np.float64]:
    """Return so many finite numbers; anything else is a `WriteampError`."""
    found: npt.NDArray[np.float64] = np.array(values, dtype=np.float64)
    if found.shape != (count,) or not np.isfinite(found).all():
        raise WriteampError(f"its numbers are not {count} finite ones")
    return found
