"""Boosted trees with constant leaves, a baseline."""

from __future__ import annotations

from sklearn.ensemble import HistGradientBoostingRegressor

from writeamp.blackbox.models.learner import baseline

LEARNER = baseline(lambda: HistGradientBoostingRegressor(max_iter=200, random_state=0))
