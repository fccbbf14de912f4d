"""Drift of the generated traces of Table VII: how the third hour differs from the first two.

The paper predicts the third hour of a trace from the first two (section IV.D). If all hours were
alike, a bound on the error could not fail by what the paper tests. So the drift of the generated
traces is compared with that of the first requests of Financial1 and WebSearch1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import log

import polars as pl

from writeamp_papers.items import Item, checked, compared, ordered

# Relative tolerance of a ratio of two means over windows.
_RATIO = 0.15

# Mean over the windows of the last third of the first requests, divided by that over the windows of
# the first two thirds (windows of about 400 requests).
PUBLISHED_DRIFT = {
    "Financial1": {
        "rate": 1.807,
        "odds of a write": 0.305,
        "size of reads": 2.638,
        "size of writes": 1.204,
    },
    "WebSearch1": {"rate": 0.954, "size of reads": 0.983},
}


def drift_items(windows: Mapping[str, pl.DataFrame], count: int) -> list[Item]:
    """Return items on the drift of generated traces.

    Args:
        windows: characteristics of each trace's windows (`trace_windows.of_trace`).
        count: number of windows of a trace.
    """
    drift = {trace: drift_of(rows, count) for trace, rows in windows.items()}
    items = [
        compared(
            f"Section IV.D, drift of {trace}: {name} in the third hour ÷ in the first two",
            published,
            drift[trace][name],
            _RATIO * published,
            note="published: in the last third of the trace's first requests",
            statement="P2-T7-1",
        )
        for trace, names in PUBLISHED_DRIFT.items()
        for name, published in names.items()
    ]
    items += [
        ordered(
            f"Section IV.D, drift of WebSearch{number} ÷ that of Financial{number}: {name}",
            abs(log(drift[f"WebSearch{number}"][name]) / log(drift[f"Financial{number}"][name])),
            statement="P2-T7-4",
        )
        for number in (1, 2)
        for name in PUBLISHED_DRIFT["WebSearch1"]
    ]
    return [checked(item) for item in items]


def drift_of(windows: pl.DataFrame, count: int) -> dict[str, float]:
    """Return how characteristics of the last third of windows differ from the first two.

    Returns:
        For each name in `PUBLISHED_DRIFT`, the mean over the last third of the windows divided by
        the mean over the others.
    """
    is_last = pl.col("window") >= count * 2 // 3
    parts = [windows.filter(is_last), windows.filter(~is_last)]

    def ratio(values: Callable[[pl.DataFrame], float]) -> float:
        last, first = map(values, parts)
        return last / first

    return {
        "rate": ratio(lambda rows: _mean(rows, "requests")),
        "odds of a write": ratio(lambda rows: _odds(_mean(rows, "write_ratio"))),
        "size of reads": ratio(lambda rows: _mean(rows, "read_size_bytes")),
        "size of writes": ratio(lambda rows: _mean(rows, "write_size_bytes")),
    }


def _mean(rows: pl.DataFrame, name: str) -> float:
    return float(rows[name].to_numpy().mean())


def _odds(share: float) -> float:
    return share / (1 - share)
