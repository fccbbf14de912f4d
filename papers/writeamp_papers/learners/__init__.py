"""Kinds of black-box models that only paper 2 needs, as entry points of `writeamp.learners`.

This module does not import scikit-learn, so that the kinds can be listed without it.
"""

from writeamp.learn.blackbox.model_kinds import ModelKind

WORKLOAD_SPECIFIC = ModelKind(
    "a tree for each of paper 2's eight kinds of workload, and one for all others",
    "writeamp_papers.learners.workload_specific:LEARNER",
)
CART = ModelKind(
    "a tree with constant leaves (baseline)", "writeamp_papers.learners.baselines:CART"
)
BOOSTED = ModelKind(
    "boosted trees with constant leaves (baseline)", "writeamp_papers.learners.baselines:BOOSTED"
)
LIGHTGBM = ModelKind(
    "LightGBM's boosted linear trees (baseline)", "writeamp_papers.learners.baselines:LIGHTGBM"
)
