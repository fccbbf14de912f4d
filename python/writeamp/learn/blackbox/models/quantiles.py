"""Quantile leaves: linear quantile regression in place of least squares (Koenker 2005)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sklearn.linear_model import QuantileRegressor

from writeamp.learn.blackbox.models.fitting import Scaling
from writeamp.learn.blackbox.models.growing import Data
from writeamp.learn.blackbox.models.tree import LEAF, Tree


def with_quantile_leaves(tree: Tree, data: Data, scaling: Scaling, quantile: float) -> Tree:
    """Return the tree with the models of its leaves fitted to a quantile of their rows.

    The splits, and the terms that a leaf's model has, stay those of least squares.
    """
    intercept, coefficients = tree.intercept.copy(), tree.coefficients.copy()
    leaf_of = tree.apply(data.features)
    for leaf in np.flatnonzero(tree.feature == LEAF):
        rows = np.flatnonzero(leaf_of == leaf)
        used = np.flatnonzero(tree.coefficients[leaf])
        columns, target = data.columns[np.ix_(rows, used)], data.target[rows]
        varies = columns.std(axis=0) > 0
        slopes = np.zeros(data.columns.shape[1])
        constant = float(np.quantile(target, quantile))
        if varies.any():
            model = QuantileRegressor(quantile=quantile, alpha=0.0, solver="highs")
            model.fit(columns[:, varies], target)
            slopes[used[varies]], constant = model.coef_, float(model.intercept_)
        intercept[leaf], coefficients[leaf] = scaling.raw(constant, slopes)
    return replace(tree, intercept=intercept, coefficients=coefficients)
