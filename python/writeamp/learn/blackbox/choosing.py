"""Choice among drives by bounds on their performance.

A drive meets the bounds under one workload, or in a share of the windows of a trace.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from writeamp.errors import WriteampError, unknown
from writeamp.fields.domains import SHARE
from writeamp.learn.blackbox.measurements import TARGETS
from writeamp.learn.blackbox.predictions import entry
from writeamp.learn.blackbox.settings import BOUND, BoundSettings
from writeamp.learn.blackbox.training import BlackBox
from writeamp.plots.figures.blackbox import headroom_by_model
from writeamp.plots.spec import BarChart
from writeamp.results.card import Card
from writeamp.results.drawn import Drawn
from writeamp.results.numbers import json_number

F64 = npt.NDArray[np.float64]

# Targets (predicted quantities) for which less is better.
_COSTS = ("latency", "wa")

YES, LIKELY, NO = "yes", "likely", "no"
_STANDINGS = (YES, LIKELY, NO)
# Tolerance for binary rounding, so that a share of 0.9 of ten rows is nine rows.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Verdict(Drawn):
    """Verdict on a drive: whether it meets the bounds, and its headroom to the tightest bound.

    Attributes:
        name: name of the model.
        drive: the measured drive, as its model names it; empty if unknown.
        meets: "yes" if the whole prediction interval meets the bounds, "likely" if only the
            prediction does, otherwise "no".
        headroom: how many times better the prediction is than the tightest bound; below 1 if it
            misses the bound. For a trace, the required share of windows has at least this headroom.
        sure_headroom: headroom of the worse end of the prediction interval.
        outside: share of the rows that lie outside the model's training range.
        row: the row that decides the headroom.
        predictions: value, low and high of each target in that row; null for WA without writes.
    """

    name: str
    drive: str
    meets: str
    headroom: float
    sure_headroom: float
    outside: float
    row: int
    predictions: Mapping[str, tuple[float, float, float]]

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as JSON types, as `writeamp blackbox choose --json` has it."""
        return {
            "model": self.name,
            "drive": self.drive,
            "meets": self.meets,
            "headroom": json_number(self.headroom),
            "sure_headroom": json_number(self.sure_headroom),
            "outside": self.outside,
            "row": self.row,
            **{target: entry(*interval) for target, interval in self.predictions.items()},
        }

    def card(self) -> Card:
        """Return the verdict as a card."""
        return Ranking([self]).card()

    def figure(self) -> BarChart:
        """Return a bar of the model's headroom."""
        return Ranking([self]).figure()


class Ranking(Drawn, list[Verdict]):
    """Verdicts on several models, the best first."""

    def _records(self) -> list[dict[str, Any]]:
        return [verdict.to_dict() for verdict in self]

    def card(self) -> Card:
        """Return a row for each model."""
        rows = [
            (
                verdict.name,
                verdict.drive or "–",
                verdict.meets,
                *(
                    "–" if math.isinf(headroom) else f"× {headroom:.3g}"
                    for headroom in _headrooms(verdict)
                ),
                f"{verdict.outside:.0%}",
            )
            for verdict in self
        ]
        columns = ("model", "drive", "meets", ">headroom", ">sure headroom", ">outside training")
        return Card("Drives ranked by the bounds, the best first", rows, columns)

    def figure(self) -> BarChart:
        """Return bars of the headroom of each model."""
        return headroom_by_model(
            [verdict.name for verdict in self], *zip(*map(_headrooms, self), strict=True)
        )


def choose(
    models: Mapping[str, BlackBox],
    characteristics: Mapping[str, pl.DataFrame],
    bounds: Mapping[str, float],
    share: float = BoundSettings.share,
) -> Ranking:
    """Return a verdict on each model, the best first.

    Args:
        models: the trained models, by name.
        characteristics: by name of a feature set: one row for a workload, or a row for each window
            of a trace.
        bounds: by name of a target: upper bounds on latency and WA, lower bounds on bandwidth and
            throughput, in the units of `TARGETS`.
        share: share of the rows that must meet the bounds.

    Returns:
        `Ranking`, a list of `Verdict`: `name`, `meets`, `headroom`, `predictions`.

    Raises:
        WriteampError: bounds are missing, a bound or the share is not valid, or a model does not
            predict a target with a bound.
    """
    if not bounds:
        raise WriteampError(
            "no bounds are given; give a bound on at least one of " + ", ".join(TARGETS)
        )
    for target, bound in bounds.items():
        if target not in TARGETS:
            raise unknown("target", target, TARGETS)
        BOUND.check(f"the bound of {target}", bound)
    SHARE.check("share", share)
    for model in models.values():
        if model.features not in characteristics:
            raise WriteampError(
                f"characteristics has no frame for the feature set {model.features!r}, which a "
                "model needs"
            )
    verdicts = [
        _verdict(name, model, characteristics[model.features], bounds, share)
        for name, model in models.items()
    ]
    ranked = sorted(
        verdicts, key=lambda verdict: (_STANDINGS.index(verdict.meets), -verdict.headroom)
    )
    return Ranking(ranked)


def _verdict(
    name: str, model: BlackBox, rows: pl.DataFrame, bounds: Mapping[str, float], share: float
) -> Verdict:
    for target in bounds:
        if target not in model.estimators:
            raise WriteampError(
                f"a bound on {target} was given, but {name!r} predicts only "
                f"{', '.join(model.estimators)}; train it with this target, or drop the bound"
            )
    forecasts = model.predict(rows)
    worse_end = {
        forecast: forecasts[forecast].high if forecast in _COSTS else forecasts[forecast].low
        for forecast in bounds
    }
    sure, _ = _of_share(_headroom(worse_end, bounds), share)
    headroom, row = _of_share(
        _headroom({forecast: forecasts[forecast].value for forecast in bounds}, bounds), share
    )
    return Verdict(
        name=name,
        drive=model.drive,
        meets=YES if sure >= 1 else LIKELY if headroom >= 1 else NO,
        headroom=headroom,
        sure_headroom=sure,
        outside=float(
            np.mean(np.any([forecast.outside for forecast in forecasts.values()], axis=0))
        ),
        row=row,
        predictions={
            target: (
                float(forecast.value[row]),
                float(forecast.low[row]),
                float(forecast.high[row]),
            )
            for target, forecast in forecasts.items()
        },
    )


def _headroom(values: Mapping[str, F64], bounds: Mapping[str, float]) -> F64:
    """Return how many times better each row is than its tightest bound; shape (rows,).

    Unknown values, such as the WA of a row without writes, meet every bound.
    """
    each = [
        bounds[target] / value if target in _COSTS else value / bounds[target]
        for target, value in values.items()
    ]
    tightest: F64 = np.nan_to_num(np.array(each), nan=np.inf).min(axis=0)
    return tightest


def _of_share(headroom: F64, share: float) -> tuple[float, int]:
    """Return the greatest headroom that this share of the rows reaches, and the row that has it."""
    order = np.argsort(-headroom, kind="stable")
    row = int(order[int(np.ceil(share * len(order) - _ROUNDING)) - 1])
    return float(headroom[row]), row


def _headrooms(verdict: Verdict) -> tuple[float, float]:
    return verdict.headroom, verdict.sure_headroom
