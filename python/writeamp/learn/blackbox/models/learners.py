"""Learners (kinds of models) by name: writeamp's own, and learners of other packages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from writeamp.errors import WriteampError, unknown
from writeamp.extensions import extensions, loaded
from writeamp.learn.blackbox.model_kinds import check_installed, model_kinds
from writeamp.learn.blackbox.models.checks import FOREST, PROCESS, TREE
from writeamp.learn.blackbox.models.gaussian_process import GaussianProcessRegressor
from writeamp.learn.blackbox.models.kernels import Coordinates, Kernel, KernelPart
from writeamp.learn.blackbox.models.learner import (
    Learner,
    ModelDocument,
    Saved,
    baseline,
    numbers,
    of_fitted,
    read_box,
    write_box,
)
from writeamp.learn.blackbox.models.linear_forest import LinearForestRegressor
from writeamp.learn.blackbox.models.linear_tree import LinearTreeRegressor
from writeamp.learn.blackbox.models.tree import tree_from, tree_to


def _write_tree(model: LinearTreeRegressor, _: object) -> ModelDocument:
    return {"tree": tree_to(model.tree_), **write_box(model)}


def _read_tree(model: LinearTreeRegressor, document: Mapping[str, Any], _: object) -> None:
    model.tree_ = tree_from(document["tree"], int(document["features"]))
    read_box(model, document)


def _write_forest(model: LinearForestRegressor, _: object) -> ModelDocument:
    trees = [tree_to(tree) for tree in model.trees_]
    return {"trees": trees, "spread_scale": model.spread_scale_, **write_box(model)}


def _read_forest(model: LinearForestRegressor, document: Mapping[str, Any], _: object) -> None:
    model.trees_ = [tree_from(tree, int(document["features"])) for tree in document["trees"]]
    (model.spread_scale_,) = numbers([document["spread_scale"]], 1).tolist()
    read_box(model, document)
    if len(model.trees_) != model.n_estimators:
        raise WriteampError(
            f"the saved forest has only {len(model.trees_)} of its {model.n_estimators} trees"
        )


def parts_of(names: Sequence[str]) -> list[list[int]]:
    """Return the feature indices of each part of a Gaussian process.

    One part has all features except those of reads, one has all except those of writes, and one has
    all. This suits drives, because the cost of writes depends little on the kind of reads.
    """
    both = [at for at, name in enumerate(names) if not name.startswith(("write_", "read_"))]
    both += [at for at, name in enumerate(names) if name == "write_ratio"]
    sides = [
        [*both, *(at for at, name in enumerate(names) if name.startswith(side) and at not in both)]
        for side in ("write_", "read_")
    ]
    every = list(range(len(names)))
    return [*(side for side in sides if len(side) > len(both)), every]


def _write_process(model: GaussianProcessRegressor, _: object) -> ModelDocument:
    coordinates, kernel = model.coordinates_, model.kernel_
    return {
        "range": [coordinates.low.tolist(), coordinates.high.tolist()],
        "units": coordinates.units.tolist(),
        "ends": [list(end) for end in coordinates.ends],
        "parts": [
            {
                "columns": component.columns.tolist(),
                "variance": component.variance,
                "lengths": component.lengths.tolist(),
            }
            for component in kernel.parts
        ],
        "noise": kernel.noise,
        "scale": [model.mean_, model.deviation_],
        "points": model.points_.tolist(),
        "weights": model.weights_.tolist(),
        **write_box(model),
    }


def _read_process(model: GaussianProcessRegressor, document: Mapping[str, Any], _: object) -> None:
    features = int(document["features"])
    low, high = (numbers(end, features) for end in document["range"])
    ends = tuple((int(feature), float(value)) for feature, value in document["ends"])
    units = numbers(document["units"], features)
    model.coordinates_ = Coordinates(low, high, units, ends)
    width = features + len(ends)
    model.kernel_ = Kernel(
        tuple(_part(component, width) for component in document["parts"]),
        _positive(document["noise"]),
    )
    rows = len(document["weights"])
    model.weights_ = numbers(document["weights"], rows)
    model.points_ = np.array([numbers(point, width) for point in document["points"]])
    model.mean_, model.deviation_ = numbers(document["scale"], 2).tolist()
    fits = len(model.points_) == rows > 0 and all(0 <= feature < features for feature, _ in ends)
    if not fits or (units < 0).any() or not model.kernel_.parts or model.deviation_ <= 0:
        raise WriteampError(
            "a saved Gaussian process is damaged: points, coordinates, parts or scale are not valid"
        )
    read_box(model, document)


def _part(document: Mapping[str, Any], width: int) -> KernelPart:
    columns = numbers(document["columns"], len(document["columns"])).astype(np.int64)
    lengths = numbers(document["lengths"], len(columns))
    if not len(columns) or not ((columns >= 0) & (columns < width)).all() or (lengths <= 0).any():
        raise WriteampError(
            "a saved Gaussian process is damaged: coordinates or lengths of a part are not valid"
        )
    return KernelPart(columns, _positive(document["variance"]), lengths)


def _positive(value: Any) -> float:
    (number,) = numbers([value], 1).tolist()
    if number <= 0:
        raise WriteampError("a saved Gaussian process is damaged: a variance is not above 0")
    return float(number)


def _restore_scaler(model: StandardScaler, state: Mapping[str, Any], features: int) -> None:
    model.mean_, model.var_, model.scale_ = (
        numbers(state[name], features) for name in ("mean_", "var_", "scale_")
    )
    if (model.scale_ <= 0).any():
        raise WriteampError("a saved scaling of features is damaged: a scale is not above 0")


def _restore_linear(model: LinearRegression, state: Mapping[str, Any], features: int) -> None:
    model.coef_ = numbers(state["coef_"], features)
    (model.intercept_,) = numbers([state["intercept_"]], 1)


def _restore_pipeline(model: Pipeline, *_: object) -> None:
    """Reject a pipeline without steps or with a cache folder; its steps are already rebuilt."""
    if model.memory is not None or not model.steps:
        raise WriteampError("the pipeline of the saved model has no steps, or uses a cache folder")


_OWN = {
    "linear-tree": Learner(
        lambda is_log, _: LinearTreeRegressor(log_target=is_log),
        saved=Saved(LinearTreeRegressor, _write_tree, _read_tree, TREE),
    ),
    "linear-forest": Learner(
        lambda is_log, _: LinearForestRegressor(log_target=is_log),
        folds=None,
        saved=Saved(LinearForestRegressor, _write_forest, _read_forest, FOREST),
    ),
    "gaussian-process": Learner(
        lambda is_log, names: GaussianProcessRegressor(parts=parts_of(names), log_target=is_log),
        folds_of_few=10,
        saved=Saved(GaussianProcessRegressor, _write_process, _read_process, PROCESS),
    ),
    "quantile-tree": Learner(
        lambda is_log, _: LinearTreeRegressor(log_target=is_log, quantile=0.5)
    ),
    "linear": baseline(
        lambda: make_pipeline(StandardScaler(), LinearRegression()),
        {
            Pipeline: _restore_pipeline,
            StandardScaler: of_fitted(_restore_scaler),
            LinearRegression: of_fitted(_restore_linear),
        },
    ),
}
_ADDED = [
    entry._replace(value=model_kinds()[name].learner)
    for name, entry in extensions("writeamp.learners").items()
    if name in model_kinds()
]
_EVERY = loaded(_ADDED, Learner) | _OWN
MODELS: dict[str, Learner] = {name: _EVERY[name] for name in model_kinds() if name in _EVERY}


def make_model(name: str, *, log_target: bool, names: Sequence[str]) -> BaseEstimator:
    """Return an unfitted model by its registered name.

    Args:
        name: name of the kind of model.
        log_target: fit the logarithm of the target.
        names: names of the features.

    Raises:
        WriteampError: an unknown name, or a package that is not installed.
    """
    check_installed(name)
    if name not in MODELS:
        raise unknown("model", name, MODELS)
    return MODELS[name].make(log_target, names)
