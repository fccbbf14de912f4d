"""Settings of the regression trees, chosen once by cross-validation.

The paper has linear leaves and pruning, but not the number of rows per leaf (section III.D).
`tree_choice.toml` has the held-out error of each candidate. `papers/benches/choose_huang2011.py`
wrote it before any table was computed with the chosen settings. All models of all devices and
readings use the same settings.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import numpy.typing as npt

from writeamp.learn.blackbox.models.checks import folds_of, predicted_unseen
from writeamp.learn.blackbox.models.linear_tree import LinearTreeRegressor

RECORD = Path(__file__).with_name("tree_choice.toml")
_PRUNING_FOLDS = 10
# Folds and seed of the held-out errors.
FOLDS, SEED = 5, 58

F64 = npt.NDArray[np.float64]


@dataclass(frozen=True)
class TreeSettings:
    """Settings of a tree: least number of rows in a leaf, and whether sizes have logarithms."""

    min_samples_leaf: int
    log_terms: bool

    def tree(
        self, features: int, *, log_target: bool = True, quantile: float | None = None
    ) -> LinearTreeRegressor:
        """Return an unfitted tree for this number of features.

        Splits may use every feature and minimize squared errors. Ten-fold cross-validation prunes
        the tree.
        """
        return LinearTreeRegressor(
            min_samples_leaf=self.min_samples_leaf,
            split_candidates=features,
            log_target=log_target,
            log_terms=self.log_terms,
            quantile=quantile,
            folds=_PRUNING_FOLDS,
            smoothing=0.0,
        )


@cache
def chosen_settings() -> TreeSettings:
    """Return the settings that the recorded errors choose."""
    return least_error(tomllib.loads(RECORD.read_text(encoding="utf-8"))["candidates"])


def least_error(candidates: Iterable[Mapping[str, Any]]) -> TreeSettings:
    """Return the candidate with the least mean error over all devices and metrics.

    Args:
        candidates: tables with the fields of `TreeSettings`, and `errors`: by device, the mean
            absolute error of the logarithm of each metric, on held-out rows.
    """
    best = min(
        candidates,
        key=lambda candidate: mean(
            error for of_device in candidate["errors"].values() for error in of_device
        ),
    )
    return TreeSettings(best["min_samples_leaf"], best["log_terms"])


def held_out_error(settings: TreeSettings, vectors: F64, values: F64) -> float:
    """Return the mean absolute error of the logarithm on held-out rows.

    Each row is predicted by a tree that was fitted without the row's fold. Equal workloads are in
    the same fold.

    Args:
        settings: settings of the trees.
        vectors: features; shape (rows, features).
        values: metric, above 0; shape (rows,).
    """
    workloads = np.unique(vectors, axis=0, return_inverse=True)[1].ravel()
    folds = folds_of(len(values), workloads, FOLDS, SEED)
    tree = settings.tree(vectors.shape[1])
    predictions = predicted_unseen(tree, vectors, values, None, folds)
    return float(np.abs(np.log(predictions / values)).mean())
