"""Explanation of a trained model: rules, importances of features, and response curves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from writeamp.errors import WriteampError
from writeamp.fields.domains import OneOf
from writeamp.learn.blackbox.features.feature_sets import find_feature_set
from writeamp.learn.blackbox.models.linear_tree import LinearTreeRegressor
from writeamp.learn.blackbox.predictions import Forecast
from writeamp.learn.blackbox.ranges import Range
from writeamp.learn.blackbox.training import BlackBox
from writeamp.plots.figures.blackbox import curves_with_intervals, importances
from writeamp.plots.spec import BarChart, PanelChart
from writeamp.results.card import Card
from writeamp.results.drawn import Drawn
from writeamp.results.numbers import range_in_words

F64 = npt.NDArray[np.float64]

_STEPS = 49


@dataclass(frozen=True)
class Rules:
    """Rules of the tree that predicts one target, for all workloads or for one kind.

    Attributes:
        name: the kind of workloads; empty if the tree covers all.
        leaves: number of leaves.
        text: a line for each node, with the equation of each leaf.
    """

    name: str
    leaves: int
    text: str


@dataclass(frozen=True, eq=False)
class Explanation(Drawn):
    """Explanation of one target's model: importances of its features, and its rules.

    Attributes:
        target: name of the target.
        importances: share of the explained variation by feature; None if this kind of model has no
            importances.
        rules: rules of the model's linear trees; empty if it has none, or is a forest.
    """

    target: str
    importances: Mapping[str, float] | None
    rules: tuple[Rules, ...]

    def _records(self) -> list[dict[str, Any]]:
        return [
            {"target": self.target, "feature": name, "importance": share}
            for name, share in (self.importances or {}).items()
        ]

    def card(self) -> Card:
        """Return each feature's share of the explained variation, the most important first."""
        ranked = sorted((self.importances or {}).items(), key=lambda entry: -entry[1])
        rows = [(name, f"{share:.1%}") for name, share in ranked]
        notes = [] if rows else ["this kind of model has no feature importances"]
        title = f"Features that decide {self.target}"
        return Card(title, rows, ("feature", ">share of explained variation"), notes=notes)

    def figure(self) -> BarChart:
        """Return bars of each feature's importance.

        Raises:
            WriteampError: this kind of model has no importances.
        """
        if self.importances is None:
            raise WriteampError(f"this kind of model has no feature importances for {self.target}")
        names, shares = list(self.importances), list(self.importances.values())
        title = f"Features that decide {self.target}"
        return importances(names, shares, target=self.target, title=title, subtitle="")


@dataclass(frozen=True, eq=False)
class Response(Drawn):
    """Predictions as one characteristic varies and the other characteristics stay constant.

    Attributes:
        characteristic: name of the characteristic that varies.
        x: values of this characteristic, rising; shape (steps,).
        predictions: predictions of each target; shape (steps,).
    """

    characteristic: str
    x: F64
    predictions: Forecast

    def _records(self) -> list[dict[str, Any]]:
        rows = self.predictions.to_frame().to_dicts()
        return [
            {self.characteristic: x} | row for x, row in zip(self.x.tolist(), rows, strict=True)
        ]

    def card(self) -> Card:
        """Return the range of each target's predictions as the characteristic varies."""
        rows = [
            (target, range_in_words(np.nanmin(forecast.value), np.nanmax(forecast.value)))
            for target, forecast in self.predictions.items()
            if np.isfinite(forecast.value).any()
        ]
        span = range_in_words(self.x[0], self.x[-1])
        return Card(f"{self.characteristic} from {span}", rows, ("target", "predicted"))

    def figure(self) -> PanelChart:
        """Return a figure of each target's predictions and intervals by the characteristic."""
        label = self.characteristic.replace("_", " ")
        return curves_with_intervals(
            [forecast.curve(label, self.x) for forecast in self.predictions.values()],
            title=f"How predictions respond to {label}",
            subtitle="",
            level=self.predictions.level,
        )


def explained(model: BlackBox, target: str) -> Explanation:
    """Return the explanation of a target's model.

    Returns:
        `Explanation`: `importances` (share by feature; None if the model has none), `rules`.

    Raises:
        WriteampError: the model does not predict this target.
    """
    OneOf(tuple(model.estimators)).check("target", target)
    names = find_feature_set(model.features).names
    fitted = model.estimators[target].estimator_
    shares = _importances(fitted)
    return Explanation(
        target,
        None if shares is None else dict(zip(names, map(float, shares), strict=True)),
        tuple(
            Rules(name, tree.n_leaves_, tree.export_text(names))
            for name, tree in _trees(fitted).items()
        ),
    )


def typical_workload(model: BlackBox) -> pl.DataFrame:
    """Return one row of characteristics: the median of each in the training rows."""
    return pl.DataFrame({name: [limits.typical] for name, limits in model.ranges.items()})


def like(model: BlackBox, workload: pl.DataFrame) -> pl.DataFrame:
    """Return a workload's characteristics; missing ones have the median of the training rows.

    Write characteristics count as missing if the workload only reads, and vice versa.
    """
    typical = typical_workload(model)
    has_values = {"write": pl.col("write_ratio") > 0, "read": pl.col("write_ratio") < 1}
    return workload.select(
        pl.when(has_values.get(name.partition("_")[0], True) | pl.lit(name == "write_ratio"))
        .then(name)
        .fill_null(typical[name].item())
        .alias(name)
        for name in typical.columns
    )


def responses(model: BlackBox, workload: pl.DataFrame) -> list[Response]:
    """Return the response of the predictions to each characteristic over its training range.

    Steps of sizes and depths are equal factors; steps of all others are equal differences. A
    characteristic that was constant in the training rows has no response.

    Args:
        model: a trained model.
        workload: one row with the values of the characteristics that stay constant.

    Raises:
        WriteampError: a characteristic that the features need is missing.
    """
    curves = []
    for name, limits in model.ranges.items():
        if limits.low < limits.high:
            x = _steps(name, limits)
            rows = pl.concat([workload] * len(x)).with_columns(pl.Series(name, x))
            curves.append(Response(name, x, model.predict(rows)))
    return curves


def strongest(curves: Iterable[Response], target: str, most: int) -> list[Response]:
    """Return the responses in which a target varies by the greatest factor, greatest first.

    Responses without any prediction of the target are left out, such as WA without writes.
    """

    def factor(curve: Response) -> float:
        values = curve.predictions[target].value
        return float(np.nanmax(values) / np.nanmin(values))

    predicted = [curve for curve in curves if np.isfinite(curve.predictions[target].value).any()]
    return sorted(predicted, key=factor, reverse=True)[:most]


def _steps(name: str, within: Range) -> F64:
    is_by_factor = name.endswith("_size_bytes") or name == "queue_depth"
    spaced = np.geomspace if is_by_factor and within.low > 0 else np.linspace
    return spaced(within.low, within.high, _STEPS)


def _trees(fitted: Any) -> dict[str, LinearTreeRegressor]:
    """Return a model's trees by kind of workload; the name is "" if one tree covers all kinds."""
    models = getattr(fitted, "models_", {"": fitted})
    return {name: model for name, model in models.items() if isinstance(model, LinearTreeRegressor)}


def _importances(fitted: Any) -> F64 | None:
    # A baseline may be wrapped to fit the target's logarithm; the inner model has the importances.
    inner = getattr(fitted, "regressor_", fitted)
    shares: F64 | None = getattr(inner, "feature_importances_", None)
    return shares
