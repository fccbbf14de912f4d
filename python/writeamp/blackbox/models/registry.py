"""Registry of models: writeamp's, and the baselines they are compared with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from writeamp.blackbox.models.gaussian_process import GaussianProcessRegressor
from writeamp.blackbox.models.linear_forest import LinearForestRegressor
from writeamp.blackbox.models.linear_tree import LinearTreeRegressor
from writeamp.blackbox.models.workload_specific import WorkloadSpecificRegressor
from writeamp.errors import WriteampError, unknown


@dataclass(frozen=True)
class Model:
    """A kind of model.

    Attributes:
        name: its name; `kinds` says what it is.
        make: returns an estimator that is yet to be fitted; its arguments say whether to fit the
            logarithm of the target, and what the features are called.
        folds: of the cross-validation that its prediction intervals follow from; None for a forest,
            which has out-of-bag predictions.
    """

    name: str
    make: Callable[[bool, Sequence[str]], BaseEstimator]
    folds: int | None = 5


def _baseline(
    make: Callable[[], BaseEstimator],
) -> Callable[[bool, Sequence[str]], BaseEstimator]:
    """Return the maker of a baseline, which may model the logarithm of the target."""
    return lambda is_log, _: (
        TransformedTargetRegressor(make(), func=np.log, inverse_func=np.exp) if is_log else make()
    )


def parts_of(names: Sequence[str]) -> list[list[int]]:
    """Return the features of each part of a Gaussian process.

    The parts have all features but the reads', all but the writes', and all. What writes cost
    depends little on how others read, and the other way round.
    """
    both = [at for at, name in enumerate(names) if not name.startswith(("write_", "read_"))]
    both += [at for at, name in enumerate(names) if name == "write_ratio"]
    sides = [
        [*both, *(at for at, name in enumerate(names) if name.startswith(side) and at not in both)]
        for side in ("write_", "read_")
    ]
    every = list(range(len(names)))
    return [*(side for side in sides if len(side) > len(both)), every]


def _lightgbm() -> Any:
    try:
        from lightgbm import LGBMRegressor  # noqa: PLC0415 (an extra)
    except ModuleNotFoundError:
        raise WriteampError(
            "the model lightgbm needs a package: pip install 'writeamp[lightgbm]'"
        ) from None
    return LGBMRegressor(n_estimators=500, learning_rate=0.05, linear_tree=True, verbose=-1)


MODELS: dict[str, Model] = {
    model.name: model
    for model in (
        Model("linear-tree", lambda is_log, _: LinearTreeRegressor(log_target=is_log)),
        Model(
            "linear-forest",
            lambda is_log, _: LinearForestRegressor(log_target=is_log),
            folds=None,
        ),
        Model(
            "gaussian-process",
            lambda is_log, names: GaussianProcessRegressor(
                parts=parts_of(names), log_target=is_log
            ),
        ),
        Model(
            "quantile-tree", lambda is_log, _: LinearTreeRegressor(log_target=is_log, quantile=0.5)
        ),
        Model(
            "workload-specific",
            lambda is_log, names: WorkloadSpecificRegressor(
                LinearTreeRegressor(log_target=is_log), names=names
            ),
        ),
        Model("linear", _baseline(lambda: make_pipeline(StandardScaler(), LinearRegression()))),
        Model("cart", _baseline(lambda: DecisionTreeRegressor(min_samples_leaf=3, random_state=0))),
        Model(
            "boosted",
            _baseline(lambda: HistGradientBoostingRegressor(max_iter=200, random_state=0)),
        ),
        Model("lightgbm", _baseline(_lightgbm)),
    )
}


def make_model(name: str, *, log_target: bool, names: Sequence[str]) -> BaseEstimator:
    """Return a registered model that is yet to be fitted.

    Args:
        name: the model's.
        log_target: fit the logarithm of the target.
        names: of the features.

    Raises:
        WriteampError: an unknown name, or a package that is not installed.
    """
    if name not in MODELS:
        raise unknown("model", name, MODELS)
    return MODELS[name].make(log_target, names)
