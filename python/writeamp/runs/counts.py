"""The engine's counters, and columns of them over time."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import add
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from writeamp._engine import TIMED_CAUSES

_Count = TypeVar("_Count", int, npt.NDArray[np.uint64])


def flash_pages(counts: Mapping[str, _Count]) -> _Count:
    """Return the pages programmed for all causes, of counters or of columns of them."""
    return reduce(add, (counts[cause] for cause in TIMED_CAUSES))
