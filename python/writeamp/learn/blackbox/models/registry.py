"""Registry of models: writeamp's, and the baselines they are compared with."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from sklearn.base import BaseEstimator

from writeamp.errors import unknown
from writeamp.learn.blackbox.model_kinds import MODEL_SUMMARIES
from writeamp.learn.blackbox.models.learner import Learner

MODELS: dict[str, Learner] = {
    name: import_module(f"writeamp.learn.blackbox.models.learners.{name.replace('-', '_')}").LEARNER
    for name in MODEL_SUMMARIES
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
