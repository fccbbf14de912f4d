"""The tree with the median in its leaves, which is saved as any tree is."""

from __future__ import annotations

from writeamp.learn.blackbox.models.learner import Learner
from writeamp.learn.blackbox.models.linear_tree import LinearTreeRegressor

LEARNER = Learner(lambda is_log, _: LinearTreeRegressor(log_target=is_log, quantile=0.5))
