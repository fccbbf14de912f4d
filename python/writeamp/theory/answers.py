"""Predictions of one model, of several models, and of several models in a parameter sweep."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from writeamp.models._effective_op import effective_op
from writeamp.models._expected_value import expected_value
from writeamp.models._model import Model
from writeamp.plots.figures.models import ModelCurve, models_over, wa_by_model
from writeamp.plots.spec import BarChart, LineChart
from writeamp.results.card import Card
from writeamp.results.drawn import Drawn
from writeamp.results.numbers import four_digits, json_number
from writeamp.units.ratios import logical_of, space_in_words

Quantity: TypeAlias = Literal["wa", "op"]

_HEADINGS = {"wa": "WA", "op": "op"}
# Maximum number of points of a sweep in a table; the JSON document has all points.
_MOST_ROWS = 12
# Mark after a prediction for a drive that does not meet the model's assumptions.
OUTSIDE = "*"


@dataclass(frozen=True, eq=False)
class Prediction(Drawn):
    """Prediction of one model: write amplification `wa` at `op`, and its warnings.

    `op` is the input of the model (the effective op, if it applies), or the op that the target WA
    requires. A value that the model cannot compute is NaN, with a warning.
    """

    model: Model
    wa: float
    op: float
    warnings: tuple[str, ...]

    @property
    def in_domain(self) -> bool:
        """True if the drive meets the model's assumptions."""
        return not self.warnings

    @property
    def assumed(self) -> str:
        """Assumptions of the model, or why the drive does not meet them."""
        if self.in_domain:
            return self.model.assumes
        return f"{OUTSIDE} OUTSIDE ITS ASSUMPTIONS: {'; '.join(self.warnings)}"

    def to_dict(self) -> dict[str, Any]:
        """Return the prediction as JSON types, with None in place of NaN."""
        return {
            "model": self.model.name,
            "wa": json_number(self.wa),
            "op": json_number(self.op),
            "in_domain": self.in_domain,
            "warnings": list(self.warnings),
            "assumes": self.model.assumes,
        }

    def card(self) -> Card:
        """Return the prediction as a table."""
        rows = [
            ("write amplification", shown(self.wa)),
            ("op = (T-U)/U", f"{self.op:.6g}"),
            ("assumes", self.model.assumes),
        ]
        return Card(f"Model {self.model.name}", rows, warnings=self.warnings)

    def figure(self) -> BarChart:
        """Return a bar chart with the WA of this model.

        Raises:
            WriteampError: the model has no prediction.
        """
        outside = () if self.in_domain else (self.model.name,)
        facts = f"op = (T-U)/U = {self.op:.6g} · assumes {self.model.assumes}"
        return wa_by_model({self.model.name: self.wa}, outside, "wa", subtitle=facts)


class ModelPredictions(Drawn, list[Prediction]):
    """Predictions of models for one drive.

    `quantity` is "wa", or "op" for the required op. `drive` has the given parameters.
    """

    def __init__(self, answers: Iterable[Prediction], quantity: Quantity, drive: Mapping[str, Any]):
        """Store the predictions."""
        super().__init__(answers)
        self.quantity = quantity
        self.drive = dict(drive)

    @property
    def warnings(self) -> list[str]:
        """Sentences that apply to all predictions; each prediction has further warnings."""
        drive = self.drive
        if "effective_op" not in drive:
            return []
        warning = caveat(drive["op"], drive["utilization"], drive["written_fraction"])
        return [warning] if warning else []

    def _records(self) -> list[dict[str, Any]]:
        return [
            self.drive
            | answer_of(prediction, self.quantity)
            | {"assumes": prediction.model.assumes}
            for prediction in self
        ]

    def card(self) -> Card:
        """Return a table with a row per model; models with violated assumptions come last."""
        is_partly_full = "effective_op" in self.drive
        rows = [
            (
                prediction.model.name,
                marked(getattr(prediction, self.quantity), prediction),
                # The effective op is that of a drive which is not full.
                prediction.assumed.replace(" a full drive,", "")
                if is_partly_full
                else prediction.assumed,
            )
            for prediction in sorted(self, key=lambda prediction: not prediction.in_domain)
        ]
        columns = ("model", f">{_HEADINGS[self.quantity]}", "assumes")
        return Card(in_words(self.drive), rows, columns, warnings=self.warnings)

    def figure(self) -> BarChart:
        """Return a bar chart of the predictions, without models that have none.

        Raises:
            WriteampError: no model has a prediction.
        """
        answers = {prediction.model.name: getattr(prediction, self.quantity) for prediction in self}
        outside = {prediction.model.name for prediction in self if not prediction.in_domain}
        return wa_by_model(answers, outside, self.quantity, subtitle=in_words(self.drive))


@dataclass(frozen=True)
class SweepPoint:
    """Predictions of models at one value of the swept parameter."""

    value: float
    predictions: ModelPredictions


class PredictionSweep(Drawn, list[SweepPoint]):
    """Predictions at each value of the swept parameter `name`; `drive` has the other ones."""

    def __init__(
        self, points: Iterable[SweepPoint], name: str, quantity: Quantity, drive: Mapping[str, Any]
    ):
        """Store the points."""
        super().__init__(points)
        self.name = name
        self.quantity = quantity
        self.drive = dict(drive)

    @property
    def warnings(self) -> list[str]:
        """Sentences that apply to all models, with the number of swept values concerned."""
        warned = [point for point in self if point.predictions.warnings]
        if not warned:
            return []
        first = warned[0]
        return [
            f"{len(warned)} of {len(self)} swept values have a warning, the first at {self.name} "
            f"{first.value:.6g}: {'; '.join(first.predictions.warnings)}"
        ]

    @property
    def warnings_of_models(self) -> list[str]:
        """For each model that warns: number of swept values with a warning, and the first one."""
        sentences = []
        for i, prediction in enumerate(self[0].predictions):
            outside = [point for point in self if point.predictions[i].warnings]
            if outside:
                first = outside[0]
                sentences.append(
                    f"model {prediction.model.name}: {len(outside)} of {len(self)} swept values "
                    f"violate its assumptions, the first at {self.name} {first.value:.6g}: "
                    f"{'; '.join(first.predictions[i].warnings)}"
                )
        return sentences

    def _records(self) -> list[dict[str, Any]]:
        return [
            {self.name: point.value} | self.drive | answer_of(prediction, self.quantity)
            for point in self
            for prediction in point.predictions
        ]

    def card(self) -> Card:
        """Return rows for some of the swept values, with a column for each model."""
        shown = sorted({round(i * (len(self) - 1) / (_MOST_ROWS - 1)) for i in range(_MOST_ROWS)})
        names = [prediction.model.name for prediction in self[0].predictions]
        rows = [
            (
                four_digits(point.value),
                *(
                    marked(getattr(prediction, self.quantity), prediction)
                    for prediction in point.predictions
                ),
            )
            for point in (self[at] for at in shown)
        ]
        title = (
            f"{_HEADINGS[self.quantity]} by {self.name}, {len(shown)} of {len(self)} swept values; "
            f"{in_words(self.drive)}"
        )
        is_marked = any(OUTSIDE in cell for row in rows for cell in row)
        legend = (
            [f"{OUTSIDE} the drive violates the model's assumptions (see warnings)"]
            if is_marked
            else []
        )
        columns = (f">{self.name}", *(f">{name}" for name in names))
        warnings = [*self.warnings, *self.warnings_of_models]
        return Card(title, rows, columns, legend, warnings)

    def figure(self) -> LineChart:
        """Return a chart of WA or required op by the swept parameter, with a line for each model.

        Raises:
            WriteampError: no model has a prediction at any value.
        """
        curves = [
            ModelCurve(
                first.model.name,
                [getattr(point.predictions[i], self.quantity) for point in self],
                [point.predictions[i].in_domain for point in self],
            )
            for i, first in enumerate(self[0].predictions)
        ]
        values = [point.value for point in self]
        return models_over(self.name, values, curves, subtitle=in_words(self.drive))


def answer_of(prediction: Prediction, quantity: Quantity) -> dict[str, Any]:
    """Return a model's prediction as JSON types, with None in place of NaN."""
    return {
        "model": prediction.model.name,
        quantity: json_number(getattr(prediction, quantity)),
        "in_domain": prediction.in_domain,
        "warnings": list(prediction.warnings),
    }


def shown(value: float) -> str:
    """Return a prediction with four decimals, or "-" for NaN."""
    return "-" if math.isnan(value) else f"{value:.4f}"


def marked(value: float, prediction: Prediction) -> str:
    """Return the value, with a mark if the drive does not meet the model's assumptions."""
    return shown(value) if prediction.in_domain else shown(value) + OUTSIDE


def in_words(drive: Mapping[str, Any]) -> str:
    """Return the known parameters of a drive as text."""
    words = []
    if "op" in drive:
        words.append(space_in_words(drive["op"], drive["fill"], drive["spare_factor"]))
    if "target_wa" in drive:
        words.append(f"WA {drive['target_wa']:.6g}")
    if "utilization" in drive:
        words.append(
            f"utilization {drive['utilization']:.4g}, written fraction "
            f"{drive['written_fraction']:.4g}"
            + (f": effective op {drive['effective_op']:.4g}" if "effective_op" in drive else "")
        )
    if "pages_per_block" in drive:
        words.append(f"{drive['pages_per_block']} pages per block")
    return ", ".join(words)


# Smaller relative errors of predictions cause no caveat, because models differ as much.
_LARGE_ERROR = 0.05


def wa_if_cold_data_moves(op: float, utilization: float, written_fraction: float) -> float:
    """Return the WA of uniform writes to the hot pages if collection also moves all cold data.

    With a few writes to cold data, garbage collection also moves its blocks. In each pass over the
    flash, the share c = logical_of(utilization - written_fraction, op) is then programmed for cold
    data, and 1 - c is left for `expected_value` at the effective op. Simulations with one write
    frontier, greedy collection and 1% of the writes to cold data give a WA that is 1% to 5% lower
    (docs/models.md).

    >>> round(wa_if_cold_data_moves(0.147, 0.9, 0.3), 3)
    2.83
    """
    wa = float(expected_value(effective_op(op, utilization, written_fraction)))
    return wa / (1 - _cold_share(op, utilization, written_fraction))


def caveat(op: float, utilization: float, written_fraction: float) -> str | None:
    """Return a warning if writes to cold data would raise WA much, or None."""
    error = _cold_share(op, utilization, written_fraction)
    if error < _LARGE_ERROR:
        return None
    moved = wa_if_cold_data_moves(op, utilization, written_fraction)
    return (
        "these predictions assume that cold data is never written. If 1% of the writes go to it, "
        f"WA with one write frontier is about {moved:.3g}, and expected-value is {error:.0%} too "
        "low"
    )


def _cold_share(op: float, utilization: float, written_fraction: float) -> float:
    """Return the share of the flash that holds cold data."""
    return logical_of(utilization - written_fraction, op)
