"""Kinds of models by name, with summaries; nothing here imports scikit-learn.

Each is a file of `models/learners`, called like it with `_` for `-`, and a line here.
"""

from __future__ import annotations

MODEL_SUMMARIES = {
    "linear-tree": "a tree with linear models in its leaves",
    "linear-forest": "the mean of 30 such trees, each of a part of the rows",
    "gaussian-process": "a sum of Gaussian processes, the most accurate while points are few",
    "quantile-tree": "the tree with the median in its leaves",
    "workload-specific": (
        "a tree for each of paper 2's eight kinds of workload, and one for all others"
    ),
    "linear": "one linear model (baseline)",
    "cart": "a tree with constant leaves (baseline)",
    "boosted": "boosted trees with constant leaves (baseline)",
    "lightgbm": "LightGBM's boosted linear trees (baseline)",
}
