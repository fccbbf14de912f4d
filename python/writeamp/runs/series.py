"""Series of a run: counters of the engine, and their change in each sampling interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import add
from typing import TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import polars as pl

from writeamp._engine import CAUSES, TIMED_CAUSES
from writeamp.plots.figures.points import visible_points

_Count = TypeVar("_Count", int, npt.NDArray[np.uint64])


def flash_pages(counts: Mapping[str, _Count]) -> _Count:
    """Return the pages programmed for all causes, from counters or columns of counters."""
    return reduce(add, (counts[cause] for cause in TIMED_CAUSES))


_Counts: TypeAlias = dict[str, npt.NDArray[np.uint64]]


def series_of(
    samples: _Counts, logical_pages: float, causes: Sequence[str] = CAUSES
) -> pl.DataFrame:
    """Return one row per interval between samples, with the columns of `Result.series`."""
    samples = _without_stub(samples)
    deltas = {name: np.diff(column) for name, column in samples.items()}
    flash = flash_pages(deltas)
    host_pages = samples["host_pages"][1:]
    return pl.DataFrame(
        {
            "host_pages": host_pages,
            "drive_writes": host_pages / logical_pages,
            "wa": flash / deltas["host_pages"],
            "erases": deltas["erases"],
            "trimmed_pages": deltas["trimmed_pages"],
            **{f"{cause}_programs": deltas[cause] for cause in causes},
        }
    )


def points_of(
    series: pl.DataFrame, logical_pages: float, warmup_pages: int
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return drive writes and WA of the points to draw, which each have whole collections."""
    written = np.diff(series["host_pages"], prepend=0)
    programmed = written * series["wa"].to_numpy()
    ends, wa = visible_points(written, programmed, series["erases"], warmup_pages)
    return ends / logical_pages, wa


def _without_stub(samples: _Counts) -> _Counts:
    """Merge the last interval into the previous one if it is shorter than half of that one."""
    host = samples["host_pages"].astype(np.int64)
    if host.size < 3 or 2 * (host[-1] - host[-2]) >= host[-2] - host[-3]:
        return samples
    return {name: np.delete(column, -2) for name, column in samples.items()}
