"""The figures of a trained model, of its predictions and of its errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from writeamp.learn.blackbox.explanation import Explanation, Response
from writeamp.learn.blackbox.predictions import HeldOut, Predictions
from writeamp.learn.blackbox.training import BlackBox
from writeamp.plots.figures.blackbox import (
    Compared,
    Curve,
    curves_with_intervals,
    importances,
    measured_against_predicted,
)
from writeamp.plots.spec import FigureSpec

F64 = npt.NDArray[np.float64]

_KIB = 1024
# So many points of a panel are drawn at most: more hide each other, and fill a file.
_MOST_POINTS = 3000


def comparison(model: BlackBox, parts: Sequence[HeldOut], rows: str) -> FigureSpec:
    """Describe what was measured against what was predicted; `rows` says of which rows."""
    return measured_against_predicted(
        [_compared(part) for part in parts],
        title=f"Measured and predicted{_of(model)}",
        subtitle=f"{_kind(model)} · {rows}",
    )


def response_curves(
    model: BlackBox, target: str, found: Sequence[Response], workload: str
) -> FigureSpec:
    """Describe how one target responds to each characteristic, the others as in a workload."""
    curves = [
        _curve(target, *_worded(one.characteristic, one.x), one.predictions[target])
        for one in found
    ]
    return curves_with_intervals(
        curves,
        title=f"How {target} responds{_of(model)}",
        subtitle=f"{_kind(model)} · all else as in {workload}",
        level=model.level,
    )


def forecast(
    model: BlackBox, windows: pl.DataFrame, said: Mapping[str, Predictions], trace: str
) -> FigureSpec:
    """Describe the predictions over the time of a trace."""
    seconds = windows["start_s"].to_list()
    return curves_with_intervals(
        [_curve(target, "time (s)", seconds, one) for target, one in said.items()],
        title=f"Predicted for {trace}{_of(model)}",
        subtitle=f"{_kind(model)} · {windows.height} windows with requests",
        level=model.level,
    )


def importance_bars(model: BlackBox, found: Explanation) -> FigureSpec | None:
    """Describe what matters to one target; None if this kind of model does not say."""
    if found.importances is None:
        return None
    return importances(
        list(found.importances),
        list(found.importances.values()),
        target=found.target,
        title=f"What decides {found.target}{_of(model)}",
        subtitle=_kind(model),
    )


def _of(model: BlackBox) -> str:
    return f": {model.drive}" if model.drive else ""


def _kind(model: BlackBox) -> str:
    return f"{model.model}, {model.features} features"


def _worded(characteristic: str, x: F64) -> tuple[str, Sequence[float]]:
    """Return a characteristic as an axis says it, bytes in KiB."""
    words = characteristic.removesuffix("_bytes").replace("_", " ")
    if characteristic.endswith("_bytes"):
        return f"{words} (KiB)", (x / _KIB).tolist()
    return words, x.tolist()


def _compared(part: HeldOut) -> Compared:
    every = max(-(-len(part.observed) // _MOST_POINTS), 1)
    observed, predicted = part.observed[::every].tolist(), part.value[::every].tolist()
    return Compared(part.target, observed, predicted, part.score.mre)


def _curve(target: str, x_label: str, x: Sequence[float], said: Predictions) -> Curve:
    """Return a curve where there is a prediction: without writes there is no WA."""
    known = np.isfinite(said.value)
    return Curve(
        target,
        x_label,
        np.asarray(x)[known].tolist(),
        *(line[known].tolist() for line in (said.value, said.low, said.high)),
    )
