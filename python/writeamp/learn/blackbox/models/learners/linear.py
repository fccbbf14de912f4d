"""One linear model, a baseline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn.linear_model import LinearRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from writeamp.errors import WriteampError
from writeamp.learn.blackbox.models.learner import baseline
from writeamp.learn.blackbox.models.restoring import of_fitted
from writeamp.learn.blackbox.models.tree_document import numbers


def _restore_scaler(model: StandardScaler, state: Mapping[str, Any], features: int) -> None:
    model.mean_, model.var_, model.scale_ = (
        numbers(state[name], features) for name in ("mean_", "var_", "scale_")
    )
    if (model.scale_ <= 0).any():
        raise WriteampError("its scale is not above 0")


def _restore_linear(model: LinearRegression, state: Mapping[str, Any], features: int) -> None:
    model.coef_ = numbers(state["coef_"], features)
    (model.intercept_,) = numbers([state["intercept_"]], 1)


def _restore_pipeline(model: Pipeline, *_: object) -> None:
    """Refuse a pipeline that would keep files; its steps are parameters, which are rebuilt."""
    if model.memory is not None or not model.steps:
        raise WriteampError("its pipeline has no steps, or a folder")


LEARNER = baseline(
    lambda: make_pipeline(StandardScaler(), LinearRegression()),
    {
        Pipeline: _restore_pipeline,
        StandardScaler: of_fitted(_restore_scaler),
        LinearRegression: of_fitted(_restore_linear),
    },
)
