"""Accuracy of a model's predictions under each joint reading of the paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt
import polars as pl

from writeamp.learn.blackbox.features.feature_sets import find_feature_set
from writeamp.learn.blackbox.models.checks import folds_of
from writeamp.learn.blackbox.models.learners import make_model
from writeamp.learn.blackbox.models.linear_tree import LinearTreeRegressor
from writeamp.learn.blackbox.predictions import Score, score
from writeamp_papers.huang2011.readings import by_reading
from writeamp_papers.huang2011.runs import METRICS
from writeamp_papers.huang2011.tree_choice import chosen_settings
from writeamp_papers.huang2011.workloads import plain_means

F64 = npt.NDArray[np.float64]

_FOLDS = 10
# Maximum number of training rows of a Gaussian process; more rows would take too long.
_PROCESS_ROWS = 250

# Scores of a model by the name of each reading.
Scores = Mapping[str, Score]


def tree_for(
    vectors: F64, *, log_target: bool = True, quantile: float | None = None
) -> LinearTreeRegressor:
    """Return the paper's regression tree for rows like `vectors`, unfitted.

    The paper has linear leaves, least-squares splits and the metric's logarithm (sections III.D and
    IV.A). `tree_choice` has the settings that it leaves open.
    """
    settings = chosen_settings()
    return settings.tree(vectors.shape[1], log_target=log_target, quantile=quantile)


def accuracy(
    rows: Mapping[str, pl.DataFrame],
    features: str,
    *,
    log_target: bool = True,
    quantile: float | None = None,
    metrics: Sequence[str] = METRICS,
) -> dict[str, Scores]:
    """Return the scores of a regression tree for each metric, under each reading.

    Args:
        rows: measurements by name of the way of making runs (`runs.WAYS`).
        features: name of the feature set; rows of "basic" must be those of `workloads.grid`.
        log_target: whether the tree is fitted to the logarithm of the metric.
        quantile: quantile fitted in the leaves, instead of least squares.
        metrics: some of `METRICS`.
    """
    vectors = {way: vectors_of(table, features) for way, table in rows.items()}
    settings = plain_means(rows["aged"].height) if features == "basic" else None
    scores: dict[str, Scores] = {}
    for metric in metrics:
        own = partial(_own_score, metric, log_target=log_target, quantile=quantile)
        values = rows["aged"][metric].to_numpy()
        unseen = _unseen(vectors["aged"], values, log_target=log_target, quantile=quantile)
        scores[metric] = by_reading(
            aged=own(rows["aged"], vectors["aged"]),
            fresh=own(rows["fresh"], vectors["fresh"]),
            held_out=score(metric, values, unseen),
            short_span=own(rows["short span"], vectors["short span"]),
            settings=None if settings is None else own(rows["aged"], settings),
        )
    return scores


def _own_score(
    metric: str, table: pl.DataFrame, vectors: F64, *, log_target: bool, quantile: float | None
) -> Score:
    """Return the score of a tree on the rows that it was fitted to."""
    values = table[metric].to_numpy()
    tree = tree_for(vectors, log_target=log_target, quantile=quantile)
    return score(metric, values, tree.fit(vectors, values).predict(vectors))


def process_mre(rows: pl.DataFrame, metric: str) -> float:
    """Return the mean relative error (MRE) of a Gaussian process on rows it was not fitted to.

    It uses the extended features. It is fitted to the first rows, and scored on as many rows after
    them.
    """
    count = min(_PROCESS_ROWS, rows.height // 2)
    vectors = vectors_of(rows, "extended")
    values = rows[metric].to_numpy()
    names = find_feature_set("extended").names
    model = make_model("gaussian-process", log_target=True, names=names)
    model.fit(vectors[:count], values[:count])
    later = slice(count, 2 * count)
    return score(metric, values[later], model.predict(vectors[later])).mre


def vectors_of(rows: pl.DataFrame, features: str) -> F64:
    """Return the values of a feature set for all rows; shape (rows, features)."""
    vectors: F64 = find_feature_set(features).of(rows).to_numpy()
    return vectors


def values_of(scores: Scores, measure: str) -> dict[str, float]:
    """Return one measure ("r2", "mae", "unexplained", …) under each reading."""
    return {reading: value_of(score, measure) for reading, score in scores.items()}


def value_of(score: Score, measure: str) -> float:
    """Return a measure of a score: "unexplained" (1 - R²), "r2", "mae", "mean" or "mre"."""
    return 1 - score.r2 if measure == "unexplained" else float(getattr(score, measure))


def _unseen(vectors: F64, values: F64, *, log_target: bool, quantile: float | None) -> F64:
    """Return predictions of all rows, each by a tree that was fitted without the row's fold."""
    predictions, every = np.empty_like(values), np.arange(len(values))
    for rows in folds_of(len(values), None, _FOLDS, seed=0):
        others = np.delete(every, rows)
        tree = tree_for(vectors[others], log_target=log_target, quantile=quantile)
        predictions[rows] = tree.fit(vectors[others], values[others]).predict(vectors[rows])
    return predictions
