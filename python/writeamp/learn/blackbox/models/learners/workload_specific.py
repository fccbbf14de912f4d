"""A tree for each of paper 2's eight kinds of workload, and one for all others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from writeamp.errors import WriteampError
from writeamp.learn.blackbox.models.learner import Learner
from writeamp.learn.blackbox.models.linear_tree import LinearTreeRegressor
from writeamp.learn.blackbox.models.parameters import SPECIFIC
from writeamp.learn.blackbox.models.saving import Document, Saved, check_names
from writeamp.learn.blackbox.models.workload_specific import GENERAL, WorkloadSpecificRegressor


def _write(model: WorkloadSpecificRegressor, write: Callable[[Any], Document]) -> Document:
    return {"models": {name: write(one) for name, one in model.models_.items()}}


def _read(
    model: WorkloadSpecificRegressor,
    document: Mapping[str, Any],
    read: Callable[[Mapping[str, Any]], Any],
) -> None:
    if model.names is not None:
        check_names(model.names, int(document["features"]))
    model.models_ = {name: read(one) for name, one in document["models"].items()}
    if GENERAL not in model.models_:
        raise WriteampError(f"it has no {GENERAL} model")


LEARNER = Learner(
    lambda is_log, names: WorkloadSpecificRegressor(
        LinearTreeRegressor(log_target=is_log), names=names
    ),
    saved=Saved(WorkloadSpecificRegressor, _write, _read, SPECIFIC),
)
