"""How well a model predicts what it was not fitted to, and under other readings of the paper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from writeamp.blackbox.features.registry import find_feature_set
from writeamp.blackbox.measurements import workloads
from writeamp.blackbox.models.checks import folds_of
from writeamp.blackbox.models.grouped import fitted, predicted_unseen
from writeamp.blackbox.models.registry import make_model
from writeamp.blackbox.scores import Score, score
from writeamp.reproduce.huang2011.measuring import METRICS

F64 = npt.NDArray[np.float64]

# The most accurate of ours; the paper's are trees.
OUR_MODEL = "gaussian-process"
FOLDS = 5

HELD_OUT = "on workloads held out, every cell counting"
EACH_ONCE = "each distinct workload counting once"
TRAINED_ON = "on the training rows"
LEFT_ALONE = "in the first half second on a drive that was left alone"


@dataclass(frozen=True)
class Accuracy:
    """The scores of a model of one metric, in the paper's units, under each reading."""

    by_reading: Mapping[str, Score]

    @property
    def held_out(self) -> Score:
        """The one that is reported."""
        return self.by_reading[HELD_OUT]

    def beside(self, left_alone: Accuracy) -> Accuracy:
        """Return these scores with that of a model of the same workloads on rested drives."""
        return Accuracy({**self.by_reading, LEFT_ALONE: left_alone.held_out})

    def values(self, measure: str) -> dict[str, float]:
        """Return one of the measures under each reading; "unexplained" is 1 − R²."""
        return {reading: value_of(one, measure) for reading, one in self.by_reading.items()}


def value_of(found: Score, measure: str) -> float:
    """Return a measure of a score: "unexplained" (1 − R²), "mae", "mean" or "mre"."""
    return 1 - found.r2 if measure == "unexplained" else float(getattr(found, measure))


def accuracy(rows: pl.DataFrame, features: str, model: str = OUR_MODEL) -> dict[str, Accuracy]:
    """Return the accuracy of each metric's model by cross-validation over workloads.

    Args:
        rows: measurements, a row for each cell; cells of one workload are in one fold.
        features: name of the feature set.
        model: name of the kind of model.
    """
    chosen = find_feature_set(features)
    vectors, groups = chosen.of(rows).to_numpy(), workloads(rows)
    _, firsts = np.unique(groups, return_index=True)
    found = {}
    for metric, (column, _, unit) in METRICS.items():
        values = rows[column].to_numpy() / unit
        blank = make_model(model, log_target=True, names=chosen.names)
        folds = folds_of(rows.height, groups, FOLDS, seed=0)
        predicted = predicted_unseen(blank, vectors, values, groups, folds)
        of_all = fitted(blank, vectors, values, groups).predict(vectors)
        found[metric] = Accuracy(
            {
                HELD_OUT: score(metric, values, predicted),
                EACH_ONCE: score(metric, values[firsts], predicted[firsts]),
                TRAINED_ON: score(metric, values, of_all),
            }
        )
    return found
