"""Mean fields of hot and cold data, as models that are shown beside simulated runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial

import numpy as np

from writeamp.meanfield.fixed_point import FixedPoint, hot_cold, hot_cold_swap
from writeamp.models._describes import Describes
from writeamp.models._model import AnalyticModel

_COUNTS = ("pages_per_block", "d", "d_swap")
_SHARES = ("hot_fraction", "hot_write_fraction")


# Fixed points are cached, because each takes up to seconds and `answer` needs it several times.
@lru_cache(maxsize=64)
def _wa(solve: Callable[..., FixedPoint], **parameters: float) -> np.float64:
    point = solve(
        **{name: int(value) if name in _COUNTS else value for name, value in parameters.items()}
    )
    return np.float64(point.wa)


_OF_HCWF = Describes(
    victims="d-choices",
    row="hot-cold",
    label="mean field of {manager} (many blocks)",
    kind="mean-field",
    arguments={"d": "victims.d", **{name: f"load.{name}" for name in _SHARES}},
    load="hot-cold",
    manager="hcwf",
    detector="oracle",
)
_OF_SWAP = replace(
    _OF_HCWF, manager="hcwf-swap", arguments={**_OF_HCWF.arguments, "d_swap": "manager.d_swap"}
)

_HCWF = AnalyticModel(
    name="hcwf",
    assumes="hot and cold data, separated without errors, a full drive, many blocks",
    parameters=("spare_factor", "pages_per_block", "d", *_SHARES),
    function=partial(_wa, hot_cold),
    describes=(_OF_HCWF,),
)
HOT_COLD_MODELS = (
    _HCWF,
    replace(
        _HCWF,
        name="hcwf-swap",
        parameters=(*_HCWF.parameters, "d_swap"),
        function=partial(_wa, hot_cold_swap),
        describes=(_OF_SWAP,),
    ),
)
