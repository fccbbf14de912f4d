"""One linear model, a baseline."""

from __future__ import annotations

from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from writeamp.blackbox.models.learner import baseline

LEARNER = baseline(lambda: make_pipeline(StandardScaler(), LinearRegression()))
