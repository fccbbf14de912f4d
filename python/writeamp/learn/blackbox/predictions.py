"""Predictions of a model, for new and for measured rows, and their scores."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from writeamp.errors import WriteampError
from writeamp.learn.blackbox.measurements import UNITS
from writeamp.plots.figures.blackbox import (
    LABELS,
    Compared,
    Curve,
    curves_with_intervals,
    measured_against_predicted,
    measures_of_score,
)
from writeamp.plots.spec import BarChart, PanelChart
from writeamp.results.card import Card
from writeamp.results.drawn import Drawn
from writeamp.results.numbers import four_digits, json_number, range_in_words


@dataclass(frozen=True, eq=False)
class Score(Drawn):
    """Score of a model's predictions of one target.

    Attributes:
        target: name of the target.
        r2: R², 1 − SSE ÷ SST; NaN if all observed values are equal.
        mae: mean absolute error, in the unit of the target.
        mean: mean of the observed values.
        mre: mean of |error| ÷ observed value, a ratio.
        n: number of predicted rows.
        coverage: share of the observed values within their prediction interval.
        between_n: number of rows with a queue depth or size that few other rows have
            (`between_levels`); 0 for a grid.
        between_mre: mean relative error of these rows; NaN if there are none.
        between_coverage: share of these rows within their prediction interval.
    """

    target: str
    r2: float
    mae: float
    mean: float
    mre: float
    n: int
    coverage: float = math.nan
    between_n: int = 0
    between_mre: float = math.nan
    between_coverage: float = math.nan

    def to_dict(self) -> dict[str, Any]:
        """Return the score as JSON types; null for missing values."""
        return {
            name: json_number(value) if isinstance(value, float) else value
            for name, value in asdict(self).items()
        }

    def card(self) -> Card:
        """Return the measures as a card."""
        rows = [
            ("R²", f"{self.r2:.4f}"),
            (
                "mean absolute error",
                f"{four_digits(self.mae)}, where measured values have a mean of "
                f"{four_digits(self.mean)}",
            ),
            ("mean relative error", f"{self.mre:.2%}"),
            (
                "measured value inside its prediction interval",
                f"{self.coverage:.1%} of {self.n:,} rows",
            ),
            ("mean relative error between grid levels", self.between_in_words()),
        ]
        return Card(f"Predictions of {self.target}", rows)

    def between_in_words(self) -> str:
        """Return the error between grid levels in words, or that no row measures it."""
        if self.between_n == 0:
            return "unknown, because no row has a size or depth that few other rows have"
        return f"{self.between_mre:.2%} on {self.between_n:,} rows"

    def figure(self) -> BarChart:
        """Return bars of R², mean relative error and interval coverage."""
        measures = {
            "R²": self.r2,
            "mean relative error": self.mre,
            "share in their interval": self.coverage,
        }
        return measures_of_score(measures, self.target, subtitle=f"{self.n:,} rows")


def score(
    target: str,
    observed: npt.ArrayLike,
    predicted: npt.ArrayLike,
    interval: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
    between: npt.NDArray[np.bool_] | None = None,
) -> Score:
    """Return the score of predictions.

    The measures of a single prediction, |p − p̂| and |(p − p̂) ÷ p|, are averaged over all rows;
    SSE = Σ(p − p̂)² and SST = Σ(p − p̄)².

    Args:
        target: name of the predicted target.
        observed: p; shape (rows,).
        predicted: p̂; shape (rows,).
        interval: lower and upper ends of prediction intervals; shape (rows,) each.
        between: mask of rows that also get scores of their own; shape (rows,).

    Raises:
        WriteampError: rows are missing, shapes differ, a value is not finite, or an observed value
            is 0 and so has no relative error.

    >>> latency = score("latency", [10, 20, 30], [11, 20, 27])
    >>> round(latency.r2, 3), round(latency.mae, 3), round(latency.mre, 3)
    (0.95, 1.333, 0.067)
    """
    actual, forecast = np.asarray(observed, dtype=float), np.asarray(predicted, dtype=float)
    if actual.ndim != 1 or actual.shape != forecast.shape or len(actual) == 0:
        raise WriteampError(
            f"{target}: observed has the shape {actual.shape} and predicted {forecast.shape}; both "
            "must be one row of values, of the same length and not empty"
        )
    usable = np.isfinite(actual) & np.isfinite(forecast) & (actual != 0)
    if not usable.all():
        row = int(np.argmin(usable))
        raise WriteampError(
            f"{target}: row {row} has observed {actual[row]:g} and predicted {forecast[row]:g}; "
            "both must be finite, and observed must not be 0"
        )
    errors = np.abs(actual - forecast)
    sst = float(np.sum((actual - actual.mean()) ** 2))
    held = np.full(len(actual), math.nan)
    if interval is not None:
        low, high = (np.asarray(end, dtype=float) for end in interval)
        held = ((low <= actual) & (actual <= high)).astype(float)
    relative = errors / np.abs(actual)
    apart = np.zeros(len(actual), dtype=bool) if between is None else between
    return Score(
        target=target,
        r2=1 - float(np.sum(errors**2)) / sst if sst > 0 else math.nan,
        mae=float(errors.mean()),
        mean=float(actual.mean()),
        mre=float(relative.mean()),
        n=len(actual),
        coverage=float(held.mean()),
        between_n=int(apart.sum()),
        between_mre=float(relative[apart].mean()) if apart.any() else math.nan,
        between_coverage=float(held[apart].mean()) if apart.any() else math.nan,
    )


F64 = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Predictions(Drawn):
    """Predictions of one target with their intervals; all arrays have the shape (rows,).

    Attributes:
        value: the predictions, in the unit of the target's column.
        low, high: the ends of the prediction intervals.
        outside: whether a characteristic of the row lies outside the training rows' range.
        target: name of the target.
        level: probability of the prediction intervals.
    """

    value: F64
    low: F64
    high: F64
    outside: npt.NDArray[np.bool_]
    target: str
    level: float

    def _records(self) -> list[dict[str, Any]]:
        return records_of(
            {"value": self.value, "low": self.low, "high": self.high, "outside": self.outside}
        )

    def card(self) -> Card:
        """Return a row for each prediction."""
        rows = [(f"{row}", *cells) for row, cells in enumerate(_cells(self))]
        columns = (">row", ">value", f"{self.level:.0%} interval", "outside training")
        return Card(f"Predictions of {LABELS[self.target]}", rows, columns)

    def figure(self) -> PanelChart:
        """Return a figure of the predictions by row, with their intervals.

        Raises:
            WriteampError: all predictions are NaN.
        """
        return curves_with_intervals(
            [self.curve()],
            title=f"Predictions of {self.target}",
            subtitle=_rows(self),
            level=self.level,
        )

    def curve(self, x_label: str = "row", x: npt.ArrayLike | None = None) -> Curve:
        """Return the curve of the predictions by row number or by `x`, without NaN predictions."""
        is_known = np.isfinite(self.value)
        at = np.arange(len(self.value)) if x is None else np.asarray(x)
        lines = (line[is_known].tolist() for line in (self.value, self.low, self.high))
        return Curve(self.target, x_label, at[is_known].tolist(), *lines)


class Forecast(Drawn, dict[str, Predictions]):
    """Predictions of each target by its name; `level` is the probability of their intervals."""

    def __init__(self, predictions: Mapping[str, Predictions], level: float):
        """Store the predictions."""
        super().__init__(predictions)
        self.level = level

    def _records(self) -> list[dict[str, Any]]:
        columns: dict[str, npt.NDArray[Any]] = {}
        for target, predictions in self.items():
            lines = {"value": predictions.value, "low": predictions.low, "high": predictions.high}
            columns |= {f"{target}_{name}": line for name, line in lines.items()}
        outside = np.any([predictions.outside for predictions in self.values()], axis=0)
        return records_of({**columns, "outside": outside})

    def record(self, row: int) -> dict[str, Any]:
        """Return the predictions of one row as JSON types; null for a missing prediction."""
        entries = {
            target: entry(
                *(
                    float(line[row])
                    for line in (predictions.value, predictions.low, predictions.high)
                )
            )
            for target, predictions in self.items()
        }
        finite = [
            self[target] for target, predictions in entries.items() if predictions is not None
        ]
        return {"outside": any(bool(predictions.outside[row]) for predictions in finite), **entries}

    def card(self) -> Card:
        """Return a table row for each prediction of each target."""
        if all(len(predictions.value) == 1 for predictions in self.values()):
            finite = {
                target: predictions
                for target, predictions in self.items()
                if not math.isnan(predictions.value[0])
            }
            single_rows = [
                (target, UNITS[target], *cells)
                for target, predictions in finite.items()
                for cells in _cells(predictions)
            ]
            names = ("target", "unit", ">value", f">{self.level:.0%} interval", "outside training")
            return Card("Predictions", single_rows, names)
        rows = [
            (target, f"{row}", *cells)
            for target, predictions in self.items()
            for row, cells in enumerate(_cells(predictions))
        ]
        interval = f"{self.level:.0%} interval"
        return Card("Predictions", rows, ("target", ">row", ">value", interval, "outside training"))

    def figure(self) -> PanelChart:
        """Return a figure of the predictions by row, with their intervals.

        Raises:
            WriteampError: all predictions are NaN.
        """
        every = list(self.values())
        return curves_with_intervals(
            [predictions.curve() for predictions in every],
            title="Predictions",
            subtitle=_rows(every[0]),
            level=self.level,
        )


@dataclass(frozen=True, eq=False)
class HeldOut(Drawn):
    """Measured values of one target, and their predictions by models not trained on them.

    Attributes:
        target: name of the target.
        observed: measured values; shape (rows,), as all other arrays here.
        value: the predictions.
        low, high: the ends of the prediction intervals.
        between: which rows have a queue depth or size that few other rows have
            (`between_levels`).
    """

    target: str
    observed: F64
    value: F64
    low: F64
    high: F64
    between: npt.NDArray[np.bool_]

    @property
    def score(self) -> Score:
        """Score of the predictions."""
        return score(
            self.target, self.observed, self.value, (self.low, self.high), between=self.between
        )

    def _records(self) -> list[dict[str, Any]]:
        columns = {name: getattr(self, name) for name in ("observed", "value", "low", "high")}
        return [{"target": self.target} | row for row in records_of(columns)]

    def card(self) -> Card:
        """Return the score of the predictions."""
        return self.score.card()

    def figure(self) -> PanelChart:
        """Return a figure of each row's measured value (x axis) and predicted value (y axis)."""
        return measured_against_predicted(
            [Compared(self.target, self.observed.tolist(), self.value.tolist(), self.score.mre)],
            title="Measured and predicted",
            subtitle=f"{len(self.observed):,} rows",
        )


def entry(value: float, low: float, high: float) -> dict[str, float] | None:
    """Return a prediction and its interval as JSON types; None if the prediction is NaN."""
    return None if math.isnan(value) else {"value": value, "low": low, "high": high}


def records_of(columns: Mapping[str, npt.NDArray[Any]]) -> list[dict[str, Any]]:
    """Return columns of equal length as a list of rows with JSON types; null for NaN."""
    values = ([json_number(number) for number in column.tolist()] for column in columns.values())
    return [dict(zip(columns, row, strict=True)) for row in zip(*values, strict=True)]


def _rows(predictions: Predictions) -> str:
    rows = len(predictions.value)
    return "of one row" if rows == 1 else f"of {rows:,} rows, in the order of the rows given"


def _cells(predictions: Predictions) -> Iterable[tuple[str, str, str]]:
    for value, low, high, outside in zip(
        predictions.value, predictions.low, predictions.high, predictions.outside, strict=True
    ):
        yield four_digits(value), range_in_words(low, high), "yes" if outside else "no"
