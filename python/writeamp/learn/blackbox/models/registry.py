"""Registry of models: writeamp's, and the baselines they are compared with."""

from __future__ import annotations

from collections.abc import Sequence

from sklearn.base import BaseEstimator

from writeamp.errors import unknown
from writeamp.extensions import Extension
from writeamp.learn.blackbox.model_kinds import check_installed, model_kinds
from writeamp.learn.blackbox.models.learner import Learner

MODELS: dict[str, Learner] = {
    name: Extension(name, kind.learner).load() for name, kind in model_kinds().items()
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
    check_installed(name)
    if name not in MODELS:
        raise unknown("model", name, MODELS)
    return MODELS[name].make(log_target, names)
