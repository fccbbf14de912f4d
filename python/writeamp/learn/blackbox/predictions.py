"""Predictions of a model: for any rows, and for measured rows that were held out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from writeamp.learn.blackbox.scores import Score, score
from writeamp.plots.figures.blackbox import (
    LABELS,
    Compared,
    Curve,
    curves_with_intervals,
    measured_against_predicted,
)
from writeamp.plots.spec import PanelChart
from writeamp.results.card import Card
from writeamp.results.drawn import Drawn
from writeamp.results.numbers import four_digits, json_number, range_in_words

F64 = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Predictions(Drawn):
    """Predictions of one target with their intervals; shape (rows,) each.

    Attributes:
        value: the predictions, in the unit of the target's column.
        low, high: the ends of the prediction intervals.
        outside: whether a characteristic lies outside the range of the training rows.
        target: its name.
        level: of the intervals.
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
        """Describe the predictions in the order of their rows, with their intervals.

        Raises:
            WriteampError: no row has one.
        """
        return curves_with_intervals(
            [self.curve()],
            title=f"Predictions of {self.target}",
            subtitle=_rows(self),
            level=self.level,
        )

    def curve(self) -> Curve:
        """Return the predictions by row, as far as there are: without writes there is no WA."""
        known = np.isfinite(self.value)
        lines = (line[known].tolist() for line in (self.value, self.low, self.high))
        return Curve(self.target, "row", np.flatnonzero(known).tolist(), *lines)


class Forecast(Drawn, dict[str, Predictions]):
    """Predictions of each target by its name; `level` is that of their intervals."""

    def __init__(self, said: Mapping[str, Predictions], level: float):
        """Hold the predictions."""
        super().__init__(said)
        self.level = level

    def _records(self) -> list[dict[str, Any]]:
        columns: dict[str, npt.NDArray[Any]] = {}
        for target, one in self.items():
            lines = {"value": one.value, "low": one.low, "high": one.high}
            columns |= {f"{target}_{name}": line for name, line in lines.items()}
        outside = np.any([one.outside for one in self.values()], axis=0)
        return records_of({**columns, "outside": outside})

    def card(self) -> Card:
        """Return a row for each prediction of each target."""
        rows = [
            (target, f"{row}", *cells)
            for target, one in self.items()
            for row, cells in enumerate(_cells(one))
        ]
        interval = f"{self.level:.0%} interval"
        return Card("Predictions", rows, ("target", ">row", ">value", interval, "outside training"))

    def figure(self) -> PanelChart:
        """Describe the predictions in the order of their rows, with their intervals.

        Raises:
            WriteampError: no row has one.
        """
        said = list(self.values())
        return curves_with_intervals(
            [one.curve() for one in said],
            title="Predictions",
            subtitle=_rows(said[0]),
            level=self.level,
        )


@dataclass(frozen=True, eq=False)
class HeldOut(Drawn):
    """Measured values of one target, and their predictions by models not trained on them.

    Attributes:
        target: its name.
        observed: what was measured; shape (rows,), as the others.
        value: the predictions.
        low, high: the ends of their intervals.
        between: which rows lie between the levels of the others (`between_levels`).
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
        """Describe what was measured against what was predicted."""
        return measured_against_predicted(
            [Compared(self.target, self.observed.tolist(), self.value.tolist(), self.score.mre)],
            title="Measured and predicted",
            subtitle=f"{len(self.observed):,} rows",
        )


def records_of(columns: Mapping[str, npt.NDArray[Any]]) -> list[dict[str, Any]]:
    """Return columns of the same length as rows of JSON types; null is NaN."""
    values = ([json_number(one) for one in column.tolist()] for column in columns.values())
    return [dict(zip(columns, row, strict=True)) for row in zip(*values, strict=True)]


def _rows(said: Predictions) -> str:
    rows = len(said.value)
    return "of one row" if rows == 1 else f"of {rows:,} rows, in their order"


def _cells(said: Predictions) -> Iterable[tuple[str, str, str]]:
    for value, low, high, outside in zip(
        said.value, said.low, said.high, said.outside, strict=True
    ):
        yield four_digits(value), range_in_words(low, high), "yes" if outside else "no"
