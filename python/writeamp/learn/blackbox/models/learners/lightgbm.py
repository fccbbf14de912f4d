"""LightGBM's boosted linear trees, a baseline that needs its package."""

from __future__ import annotations

from typing import Any

from writeamp.errors import WriteampError
from writeamp.learn.blackbox.models.learner import baseline


def _lightgbm() -> Any:
    try:
        from lightgbm import LGBMRegressor  # noqa: PLC0415 (an extra)
    except ModuleNotFoundError:
        raise WriteampError(
            "the model lightgbm needs a package: pip install 'writeamp[lightgbm]'"
        ) from None
    return LGBMRegressor(n_estimators=500, learning_rate=0.05, linear_tree=True, verbose=-1)


LEARNER = baseline(_lightgbm, {})
