"""A regression tree with linear models in its leaves, similar to GUIDE (Loh 2002)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from writeamp.errors import WriteampError
from writeamp.learn.blackbox.models import checks
from writeamp.learn.blackbox.models.checks import TREE, checked
from writeamp.learn.blackbox.models.fitting import (
    Shape,
    assembled,
    growth_of,
    importances,
    prepared,
    pruned,
    with_quantile_leaves,
)
from writeamp.learn.blackbox.models.terms import to_model, to_target
from writeamp.learn.blackbox.models.tree import LEAF, Tree, text_of

F64 = npt.NDArray[np.float64]


class LinearTreeRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A tree with splits chosen by tests of residuals, and linear models in its leaves.

    A node has a linear model of few terms, chosen by forward selection. Tests of the signs of its
    residuals rank the variables (`splits.ranked`). Among the first `split_candidates`, the
    threshold with the least squared residuals splits the node (`splits.best_threshold`). With one
    candidate, variables with many values are not preferred (Loh 2002). With more candidates, they
    are partly preferred, but predictions are more accurate. The tree is pruned by cross-validation.
    Each node's model is smoothed toward its parent's model (Quinlan 1992), so its equation also has
    the parent's terms unless `smoothing` is 0.

    Args:
        min_samples_leaf: least number of rows in a leaf.
        max_depth: most splits above a leaf.
        max_terms: most terms of a leaf's model; None for no limit.
        f_to_enter: least F statistic of a term that enters a model.
        split_candidates: number of variables whose thresholds are tried.
        log_target: fit the logarithm of the target, which must then be above 0 (paper 2, IV.A).
        log_terms: add logarithms of features that span a factor of 8.
        quantile: fit this quantile in the leaves; None for least squares.
        folds: number of folds of the cross-validation for pruning; 0 for no pruning.
        standard_errors: pruning may raise the mean error by at most this many standard errors.
        smoothing: weight of the parent's model in each node's model, as a number of rows.
        margin: how far predictions may exceed the range of a leaf's training targets, as a share of
            that range.
        random_state: seed of the folds.

    Attributes:
        tree_: the `Tree`.
        feature_importances_: share of the explained variation by feature, from splits and from
            terms of the leaves; shape (features,), with sum 1, or 0 if nothing is explained.
        box_low_, box_high_: least and greatest training value of each feature; shape (features,).
    """

    def __init__(
        self,
        *,
        min_samples_leaf: int = 12,
        max_depth: int = 30,
        max_terms: int | None = None,
        f_to_enter: float = 4.0,
        split_candidates: int = 4,
        log_target: bool = False,
        log_terms: bool = True,
        quantile: float | None = None,
        folds: int = 5,
        standard_errors: float = 0.0,
        smoothing: float = 5.0,
        margin: float = 0.0,
        random_state: int = 0,
    ) -> None:
        """Store the parameters, which `fit` checks."""
        self.min_samples_leaf = min_samples_leaf
        self.max_depth = max_depth
        self.max_terms = max_terms
        self.f_to_enter = f_to_enter
        self.split_candidates = split_candidates
        self.log_target = log_target
        self.log_terms = log_terms
        self.quantile = quantile
        self.folds = folds
        self.standard_errors = standard_errors
        self.smoothing = smoothing
        self.margin = margin
        self.random_state = random_state

    def fit(self, X: Any, y: Any, groups: Any = None) -> LinearTreeRegressor:  # noqa: N803
        """Fit the tree.

        Args:
            X: features; shape (rows, features).
            y: target; shape (rows,).
            groups: rows of the same group, such as a workload, stay in one fold; shape (rows,).

        Raises:
            WriteampError: a parameter outside its domain, a missing value, or a target without a
                logarithm.
        """
        checked(self, TREE)
        features, target = checks.training_rows(self, X, y)
        data, scaling = prepared(
            features, to_model(target, is_log=self.log_target), with_logs=self.log_terms
        )
        growth = growth_of(self)
        folds = (
            checks.folds_of(len(target), groups, self.folds, self.random_state)
            if self.folds
            else None
        )
        nodes, penalty = pruned(data, growth, folds, self.standard_errors)
        tree = assembled(data, scaling, nodes, Shape(penalty, self.smoothing, self.margin))
        if self.quantile is not None:
            tree = with_quantile_leaves(tree, data, scaling, self.quantile)
        self.tree_: Tree = tree
        explained = importances(data, nodes, penalty)
        self.feature_importances_: F64 = explained / (explained.sum() or 1.0)
        self.box_low_, self.box_high_ = features.min(axis=0), features.max(axis=0)
        return self

    def predict(self, X: Any) -> F64:  # noqa: N803
        """Return the predictions; shape (rows,).

        Each is limited to the range of its leaf's training targets, extended by `margin`.

        Raises:
            WriteampError: a missing value.
        """
        check_is_fitted(self)
        return to_target(
            self.tree_.predict(checks.rows_to_predict(self, X)), is_log=self.log_target
        )

    def outside(self, X: Any) -> npt.NDArray[np.bool_]:  # noqa: N803
        """Return which rows have a feature outside the training rows' range; shape (rows,)."""
        check_is_fitted(self)
        return checks.outside(checks.rows_to_predict(self, X), self.box_low_, self.box_high_)

    @property
    def n_leaves_(self) -> int:
        """Number of leaves of the tree."""
        check_is_fitted(self)
        return int((self.tree_.feature == LEAF).sum())

    def export_text(self, feature_names: Sequence[str] | None = None) -> str:
        """Return the rules of the tree, with the equation of each leaf.

        Args:
            feature_names: names of the features; None for those of the data frame that the tree was
                fitted to, or x0, x1, ….

        Raises:
            WriteampError: the number of names is not that of features.
        """
        check_is_fitted(self)
        count = self.n_features_in_
        if feature_names is None:
            feature_names = getattr(self, "feature_names_in_", [f"x{i}" for i in range(count)])
        if len(feature_names) != count:
            raise WriteampError(
                f"feature_names has {len(feature_names)} names; it must have {count}"
            )
        return text_of(self.tree_, [str(name) for name in feature_names], is_log=self.log_target)
