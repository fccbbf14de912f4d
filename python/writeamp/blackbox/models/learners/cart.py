"""A tree with constant leaves, a baseline."""

from __future__ import annotations

from sklearn.tree import DecisionTreeRegressor

from writeamp.blackbox.models.learner import baseline

LEARNER = baseline(lambda: DecisionTreeRegressor(min_samples_leaf=3, random_state=0))
