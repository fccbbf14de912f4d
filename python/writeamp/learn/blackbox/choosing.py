"""Choice among drives by bounds on their performance.

A drive meets them under a workload, or in every window of a trace.
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

# Of these the less is the better.
_COSTS = ("latency", "wa")

YES, LIKELY, NO = "yes", "likely", "no"
_STANDINGS = (YES, LIKELY, NO)
# So that a share of 0.9 of ten rows is nine of them, whatever it is in binary.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Verdict(Drawn):
    """Verdict on a drive: whether it meets the bounds, and by which factor.

    Attributes:
        name: of the model.
        drive: what was measured, as its model names it; empty if that is not known.
        meets: "yes" if the whole prediction interval does, "likely" if the prediction does, "no".
        headroom: by which factor the prediction is better than the tightest bound; below 1 it is
            worse. Of a trace, that which the asked share of windows has at least.
        sure_headroom: the same of the worse end of the prediction interval.
        outside: share of the rows that lie outside what the model was trained on.
        row: the row that decides the headroom.
        predictions: value, low and high of each target in that row; null is no WA without writes.
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
            **{target: entry(*said) for target, said in self.predictions.items()},
        }

    def card(self) -> Card:
        """Return the verdict in words."""
        return Ranking([self]).card()

    def figure(self) -> BarChart:
        """Describe by which factor the model is better than what is asked."""
        return Ranking([self]).figure()


class Ranking(Drawn, list[Verdict]):
    """Verdicts on several models, the best first."""

    def _records(self) -> list[dict[str, Any]]:
        return [one.to_dict() for one in self]

    def card(self) -> Card:
        """Return a row for each model."""
        rows = [
            (
                one.name,
                one.drive or "–",
                one.meets,
                *("–" if math.isinf(part) else f"× {part:.3g}" for part in _headrooms(one)),
                f"{one.outside:.0%}",
            )
            for one in self
        ]
        columns = ("model", "drive", "meets", ">headroom", ">sure", ">outside training")
        return Card("Which drives meet what is asked", rows, columns)

    def figure(self) -> BarChart:
        """Describe by which factor each model is better than what is asked."""
        return headroom_by_model(
            [one.name for one in self], *zip(*map(_headrooms, self), strict=True)
        )


def choose(
    models: Mapping[str, BlackBox],
    characteristics: Mapping[str, pl.DataFrame],
    bounds: Mapping[str, float],
    share: float = BoundSettings.share,
) -> Ranking:
    """Return a verdict on each model, the best first.

    Args:
        models: by name.
        characteristics: the workload, a row, or the windows of a trace, a row each; for each set of
            features.
        bounds: of each target that matters: the most latency and WA, the least bandwidth and
            throughput, in the units of `TARGETS`.
        share: of the rows that must meet them.

    Returns:
        `Ranking`, a list of `Verdict`: `name`, `meets`, `headroom`, `predictions`.

    Raises:
        WriteampError: there is no bound, a bound or the share is not valid, or a model does not
            predict a target that has one.
    """
    if not bounds:
        raise WriteampError(
            "nothing is asked of the drives; give a bound on one of " + ", ".join(TARGETS)
        )
    for target, bound in bounds.items():
        if target not in TARGETS:
            raise unknown("target", target, TARGETS)
        BOUND.check(f"the bound of {target}", bound)
    SHARE.check("share", share)
    for model in models.values():
        if model.features not in characteristics:
            raise WriteampError(f"characteristics has no frame of {model.features!r} features")
    verdicts = [
        _verdict(name, model, characteristics[model.features], bounds, share)
        for name, model in models.items()
    ]
    ranked = sorted(verdicts, key=lambda one: (_STANDINGS.index(one.meets), -one.headroom))
    return Ranking(ranked)


def _verdict(
    name: str, model: BlackBox, rows: pl.DataFrame, bounds: Mapping[str, float], share: float
) -> Verdict:
    for target in bounds:
        if target not in model.estimators:
            raise WriteampError(
                f"a bound on {target} was given, and {name!r} predicts only "
                f"{', '.join(model.estimators)}"
            )
    said = model.predict(rows)
    worse_end = {one: said[one].high if one in _COSTS else said[one].low for one in bounds}
    sure, _ = _of_share(_headroom(worse_end, bounds), share)
    headroom, row = _of_share(_headroom({one: said[one].value for one in bounds}, bounds), share)
    return Verdict(
        name=name,
        drive=model.drive,
        meets=YES if sure >= 1 else LIKELY if headroom >= 1 else NO,
        headroom=headroom,
        sure_headroom=sure,
        outside=float(np.mean(np.any([one.outside for one in said.values()], axis=0))),
        row=row,
        predictions={
            target: (float(one.value[row]), float(one.low[row]), float(one.high[row]))
            for target, one in said.items()
        },
    )


def _headroom(values: Mapping[str, F64], bounds: Mapping[str, float]) -> F64:
    """Return by which factor each row is better than the tightest of its bounds; shape (rows,).

    What is not known, the WA of a row that does not write, has no part in it.
    """
    each = [
        bounds[target] / value if target in _COSTS else value / bounds[target]
        for target, value in values.items()
    ]
    found: F64 = np.nan_to_num(np.array(each), nan=np.inf).min(axis=0)
    return found


def _of_share(headroom: F64, share: float) -> tuple[float, int]:
    """Return the greatest headroom that such a share of the rows has, and the row that has it."""
    order = np.argsort(-headroom, kind="stable")
    row = int(order[int(np.ceil(share * len(order) - _ROUNDING)) - 1])
    return float(headroom[row]), row


def _headrooms(one: Verdict) -> tuple[float, float]:
    return one.headroom, one.sure_headroom
