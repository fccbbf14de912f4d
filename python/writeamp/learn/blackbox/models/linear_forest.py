"""Bagged linear-model trees, with a standard deviation of each prediction."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from writeamp.learn.blackbox.models import checks
from writeamp.learn.blackbox.models.checks import FOREST, checked
from writeamp.learn.blackbox.models.fitting import (
    Shape,
    TermScaling,
    assembled,
    growth_of,
    importances,
    prepared,
)
from writeamp.learn.blackbox.models.growing import Data, Growth, TreeNode, grow
from writeamp.learn.blackbox.models.terms import to_model, to_target
from writeamp.learn.blackbox.models.tree import Tree

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

# Pruning penalty that disables pruning, as averaging over trees has the same effect.
_NOT_PRUNED = -1.0


class LinearForestRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Mean of linear-model trees, each grown on a random sample of the rows.

    Samples are drawn without replacement (subagging, Bühlmann and Yu 2002): measurements on a grid
    are few and exact, and a tree that sees some rows twice misses others. Errors on the rows that a
    tree has not seen (out of bag) estimate the errors of predictions.

    Args:
        n_estimators: number of trees.
        sample_share: share of the rows, or groups, in each sample, below 1.
        min_samples_leaf, max_depth, max_terms, f_to_enter, split_candidates, log_target, log_terms,
            smoothing, margin: parameters of each tree, as in `LinearTreeRegressor`.
        random_state: seed of the draws.
        n_jobs: processes that grow trees, in the notation of joblib.

    Attributes:
        trees_: the `Tree` of each sample.
        oob_prediction_: for each training row, the mean prediction of the trees that have not seen
            it, or NaN if all trees have seen it; shape (rows,).
        spread_scale_: factor from the standard deviation of the trees' predictions to that of the
            error.
        feature_importances_: mean over the trees of `LinearTreeRegressor.feature_importances_`.
        box_low_, box_high_: least and greatest training value of each feature; shape (features,).
    """

    def __init__(
        self,
        *,
        n_estimators: int = 30,
        sample_share: float = 0.8,
        min_samples_leaf: int = 10,
        max_depth: int = 30,
        max_terms: int | None = None,
        f_to_enter: float = 4.0,
        split_candidates: int = 4,
        log_target: bool = False,
        log_terms: bool = True,
        smoothing: float = 5.0,
        margin: float = 0.0,
        random_state: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        """Store the parameters, which `fit` checks."""
        self.n_estimators = n_estimators
        self.sample_share = sample_share
        self.min_samples_leaf = min_samples_leaf
        self.max_depth = max_depth
        self.max_terms = max_terms
        self.f_to_enter = f_to_enter
        self.split_candidates = split_candidates
        self.log_target = log_target
        self.log_terms = log_terms
        self.smoothing = smoothing
        self.margin = margin
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, groups: Any = None) -> LinearForestRegressor:  # noqa: N803
        """Fit the trees.

        Args:
            X: features; shape (rows, features).
            y: target; shape (rows,).
            groups: rows of the same group are in a tree's sample together or not at all; shape
                (rows,).

        Raises:
            WriteampError: a parameter outside its domain, a missing value, or a target without a
                logarithm.
        """
        checked(self, FOREST)
        features, target = checks.training_rows(self, X, y)
        model_target = to_model(target, is_log=self.log_target)
        data, scaling = prepared(features, model_target, with_logs=self.log_terms)
        rng = np.random.default_rng(self.random_state)
        labels = checks.labels_of(len(target), groups)
        drawn = [_part(rng, labels, self.sample_share) for _ in range(self.n_estimators)]
        shape = Shape(_NOT_PRUNED, self.smoothing, self.margin)
        grown = Parallel(n_jobs=self.n_jobs)(
            delayed(_tree)(data, scaling, rows, growth_of(self), shape) for rows in drawn
        )
        self.trees_: list[Tree] = [tree for tree, _ in grown]
        explained = np.mean([share for _, share in grown], axis=0)
        self.feature_importances_: F64 = explained / (explained.sum() or 1.0)
        self.box_low_, self.box_high_ = features.min(axis=0), features.max(axis=0)
        self._look_out_of_bag(features, model_target, drawn)
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:  # noqa: N803
        """Return the predictions, and with `return_std` their standard deviations; shape (rows,).

        Raises:
            WriteampError: a missing value.
        """
        check_is_fitted(self)
        features = checks.rows_to_predict(self, X)
        predictions = np.array([tree.predict(features) for tree in self.trees_])
        mean = to_target(predictions.mean(axis=0), is_log=self.log_target)
        if not return_std:
            return mean
        deviation = self.spread_scale_ * predictions.std(axis=0)
        # A small deviation of the logarithm is about the relative deviation of the target.
        return mean, deviation * mean if self.log_target else deviation

    def outside(self, X: Any) -> npt.NDArray[np.bool_]:  # noqa: N803
        """Return which rows have a feature outside the training rows' range; shape (rows,)."""
        check_is_fitted(self)
        return checks.outside(checks.rows_to_predict(self, X), self.box_low_, self.box_high_)

    def _look_out_of_bag(self, features: F64, target: F64, drawn: list[I64]) -> None:
        """Set `oob_prediction_` and `spread_scale_` from the rows that trees have not seen."""
        predictions = np.full((len(self.trees_), len(target)), np.nan)
        for tree, rows, line in zip(self.trees_, drawn, predictions, strict=True):
            unseen = np.setdiff1d(np.arange(len(target)), rows)
            line[unseen] = tree.predict(features[unseen])
        times = np.isfinite(predictions).sum(axis=0)
        is_known = times > 0
        mean = np.full(len(target), np.nan)
        mean[is_known] = np.nanmean(predictions[:, is_known], axis=0)
        self.oob_prediction_: F64 = to_target(mean, is_log=self.log_target)
        several = times > 1
        spread = np.nanstd(predictions[:, several], axis=0)
        error = mean[several] - target[several]
        mean_spread = np.sqrt(np.mean(spread**2)) if several.any() else 0.0
        self.spread_scale_ = float(np.sqrt(np.mean(error**2)) / mean_spread) if mean_spread else 1.0


def _part(rng: np.random.Generator, labels: I64, share: float) -> I64:
    """Return the rows of a random share of the groups, at least two rows."""
    count = int(labels.max()) + 1
    chosen = np.zeros(count, dtype=bool)
    chosen[rng.permutation(count)[: max(round(share * count), 1)]] = True
    rows = np.flatnonzero(chosen[labels])
    return rows if len(rows) > 1 else np.arange(len(labels))


def _tree(
    data: Data, scaling: TermScaling, rows: I64, growth: Growth, shape: Shape
) -> tuple[Tree, F64]:
    """Return a tree on some of the rows, and the sum of squares that each feature explains."""
    nodes: list[TreeNode] = grow(data, rows, growth)
    return assembled(data, scaling, nodes, shape), importances(data, nodes, shape.penalty)
