"""Drift of the generated traces of Table VII: how the third hour differs from the first two.

The paper predicts the third hour of a trace from the first two (section IV.D). Its errors depend on
the drift between them. So the drift of the generated traces is compared with that of the first
requests of Financial1 and WebSearch1.
"""

from __future__ import annotations

from collections.abc import Mapping
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


# Characteristic of a window by name in `PUBLISHED_DRIFT`.
_COLUMNS = {
    "rate": "requests",
    "odds of a write": "write_ratio",
    "size of reads": "read_size_bytes",
    "size of writes": "write_size_bytes",
}


def drift_items(windows: Mapping[str, pl.DataFrame], count: int) -> list[Item]:
    """Return items on the drift of generated traces.

    Args:
        windows: characteristics of each trace's windows (`trace_windows.of_trace`).
        count: number of windows of a trace.
    """
    items = [
        compared(
            f"Section IV.D, drift of {trace}: {name} in the third hour ÷ in the first two",
            published,
            drift_of(windows[trace], count, name),
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
            abs(
                log(drift_of(windows[f"WebSearch{number}"], count, name))
                / log(drift_of(windows[f"Financial{number}"], count, name))
            ),
            statement="P2-T7-4",
        )
        for number in (1, 2)
        for name in PUBLISHED_DRIFT["WebSearch1"]
    ]
    return [checked(item) for item in items]


def drift_of(windows: pl.DataFrame, count: int, name: str) -> float:
    """Return the mean over the last third of the windows divided by that over the others.

    Args:
        windows: characteristics of the windows of a trace.
        count: number of windows.
        name: a name in `PUBLISHED_DRIFT`.
    """
    is_last = windows["window"].to_numpy() >= count * 2 // 3
    values = windows[_COLUMNS[name]].to_numpy()
    means = values[is_last].mean(), values[~is_last].mean()
    last, first = (mean / (1 - mean) for mean in means) if "odds" in name else means
    return float(last / first)
