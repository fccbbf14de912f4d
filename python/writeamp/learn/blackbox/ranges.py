"""Training ranges of characteristics: the least, the greatest and the median value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from writeamp.learn.blackbox.features.characteristics import settled


@dataclass(frozen=True)
class Range:
    """Training range of a characteristic.

    Of the size of a direction, 0 is none: it says that there are no such requests.

    Attributes:
        low, high: the least and the greatest.
        typical: the median.
    """

    low: float
    typical: float
    high: float


def ranges_of(characteristics: pl.DataFrame, names: Iterable[str]) -> dict[str, Range]:
    """Return the range of each of some characteristics."""
    table = settled(characteristics)
    found = {}
    for name in names:
        values = table[name].cast(pl.Float64)
        given = values.filter(values > 0) if _is_size(name) else values
        kept = given if len(given) else values
        low, typical, high = (kept.quantile(share, "nearest") for share in (0.0, 0.5, 1.0))
        found[name] = Range(float(low or 0), float(typical or 0), float(high or 0))
    return found


def beyond(
    ranges: Mapping[str, Range], characteristics: pl.DataFrame
) -> dict[str, npt.NDArray[np.bool_]]:
    """Return the characteristics that some row has outside their range, and which rows have."""
    table = settled(characteristics)
    found = {}
    for name, one in ranges.items():
        values = table[name].cast(pl.Float64)
        is_inside = values.is_between(one.low, one.high)
        if _is_size(name):
            is_inside |= values == 0
        if not is_inside.all():
            found[name] = ~is_inside.to_numpy()
    return found


def _is_size(name: str) -> bool:
    return name.endswith("_size_bytes")
