"""How much an ensemble of randomised trees disagrees on points that were not measured."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from writeamp.errors import WriteampError

_Floats = npt.NDArray[np.float64]

_TREES = 100


class TreeSpread:
    """The spread of extremely randomised trees (Geurts, Ernst and Wehenkel 2006)."""

    def __init__(self, seed: int) -> None:
        """Draw the trees by a seed.

        Raises:
            WriteampError: scikit-learn is not installed.
        """
        try:
            from sklearn.ensemble import (  # noqa: PLC0415
                ExtraTreesRegressor,
            )
        except ImportError:
            raise WriteampError(
                "design active needs scikit-learn; pip install 'writeamp[blackbox]'"
            ) from None
        self._forest = ExtraTreesRegressor(_TREES, min_samples_leaf=2, random_state=seed)

    def spread(self, known: _Floats, targets: _Floats, asked: _Floats) -> _Floats:
        """Return the mean over the targets of the standard deviation over the trees."""
        self._forest.fit(known, targets)
        each = np.stack([tree.predict(asked) for tree in self._forest.estimators_])
        found: _Floats = each.reshape(len(each), len(asked), -1).std(axis=0).mean(axis=1)
        return found
