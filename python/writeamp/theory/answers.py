"""Answers of the models: one of them, all side by side, and all over a row of drives."""

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
from writeamp.results.numbers import json_number
from writeamp.units.ratios import logical_of, space_in_words

Asked: TypeAlias = Literal["wa", "op"]

_HEADINGS = {"wa": "WA", "op": "op"}
# A table of a sweep shows this many of its points; the JSON document has all.
_MOST_ROWS = 12
# What stands beside the answer of a model that the drive is not made for.
OUTSIDE = "*"


@dataclass(frozen=True, eq=False)
class Prediction(Drawn):
    """Prediction of one model: write amplification `wa` at `op`, and why it may not hold.

    `op` is the one that the model was given (the effective op, where it applies), or what it finds
    that the target WA needs. What the model cannot answer is NaN, and the warning says why.
    """

    model: Model
    wa: float
    op: float
    warnings: tuple[str, ...]

    @property
    def in_domain(self) -> bool:
        """True if the drive is what the model assumes, so that its answer can be believed."""
        return not self.warnings

    @property
    def assumed(self) -> str:
        """Assumptions of the model, or why the drive does not meet them."""
        if self.in_domain:
            return self.model.assumes
        return f"{OUTSIDE} OUTSIDE ITS DOMAIN: {'; '.join(self.warnings)}"

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as JSON types; null is what the model cannot answer."""
        return {
            "model": self.model.name,
            "wa": json_number(self.wa),
            "op": json_number(self.op),
            "in_domain": self.in_domain,
            "warnings": list(self.warnings),
            "assumes": self.model.assumes,
        }

    def card(self) -> Card:
        """Return the answer in words."""
        rows = [
            ("write amplification", shown(self.wa)),
            ("op = (T-U)/U", f"{self.op:.6g}"),
            ("assumes", self.model.assumes),
        ]
        return Card(f"Model {self.model.name}", rows, warnings=self.warnings)

    def figure(self) -> BarChart:
        """Describe the WA as a bar.

        Raises:
            WriteampError: the model has no answer.
        """
        outside = () if self.in_domain else (self.model.name,)
        facts = f"op = (T-U)/U = {self.op:.6g} · assumes {self.model.assumes}"
        return wa_by_model({self.model.name: self.wa}, outside, "wa", subtitle=facts)


class ModelPredictions(Drawn, list[Prediction]):
    """Answers of models on one drive.

    `asked` says whether for its WA or for the op it needs. `drive` is what was said of it.
    """

    def __init__(self, answers: Iterable[Prediction], asked: Asked, drive: Mapping[str, Any]):
        """Hold the answers."""
        super().__init__(answers)
        self.asked = asked
        self.drive = dict(drive)

    @property
    def warnings(self) -> list[str]:
        """Sentences that hold of all answers; each answer has its own."""
        drive = self.drive
        if "effective_op" not in drive:
            return []
        found = caveat(drive["op"], drive["utilization"], drive["hot_ratio"])
        return [found] if found else []

    def _records(self) -> list[dict[str, Any]]:
        return [
            self.drive | answer_of(one, self.asked) | {"assumes": one.model.assumes} for one in self
        ]

    def card(self) -> Card:
        """Return a row for each model, those in their domain first."""
        rows = [
            (one.model.name, marked(getattr(one, self.asked), one), one.assumed)
            for one in sorted(self, key=lambda one: not one.in_domain)
        ]
        columns = ("model", f">{_HEADINGS[self.asked]}", "assumes")
        return Card(in_words(self.drive), rows, columns, warnings=self.warnings)

    def figure(self) -> BarChart:
        """Describe the answer of each model that has one.

        Raises:
            WriteampError: none has.
        """
        answers = {one.model.name: getattr(one, self.asked) for one in self}
        outside = {one.model.name for one in self if not one.in_domain}
        return wa_by_model(answers, outside, self.asked, subtitle=in_words(self.drive))


@dataclass(frozen=True)
class SweepPoint:
    """Answers of models at one value of the swept parameter."""

    value: float
    predictions: ModelPredictions


class PredictionSweep(Drawn, list[SweepPoint]):
    """Answers of models over values of one parameter, `name`; `drive` is all else of it."""

    def __init__(
        self, points: Iterable[SweepPoint], name: str, asked: Asked, drive: Mapping[str, Any]
    ):
        """Hold the points."""
        super().__init__(points)
        self.name = name
        self.asked = asked
        self.drive = dict(drive)

    @property
    def warnings(self) -> list[str]:
        """Sentences that hold of all models, each with the points of which it holds."""
        warned = [point for point in self if point.predictions.warnings]
        if not warned:
            return []
        first = warned[0]
        return [
            f"{len(warned)} of {len(self)} points need care, the first at {self.name} "
            f"{first.value:.6g}: {'; '.join(first.predictions.warnings)}"
        ]

    @property
    def warnings_of_models(self) -> list[str]:
        """Sentences on how many points are outside what a model assumes, and why the first is."""
        found = []
        for i, prediction in enumerate(self[0].predictions):
            outside = [point for point in self if point.predictions[i].warnings]
            if outside:
                first = outside[0]
                found.append(
                    f"{prediction.model.name}: {len(outside)} of {len(self)} points lie outside, "
                    f"the first at {self.name} {first.value:.6g}: "
                    f"{'; '.join(first.predictions[i].warnings)}"
                )
        return found

    def _records(self) -> list[dict[str, Any]]:
        return [
            {self.name: point.value} | self.drive | answer_of(one, self.asked)
            for point in self
            for one in point.predictions
        ]

    def card(self) -> Card:
        """Return rows for some of the values, a column for each model."""
        shown = sorted({round(i * (len(self) - 1) / (_MOST_ROWS - 1)) for i in range(_MOST_ROWS)})
        names = [one.model.name for one in self[0].predictions]
        rows = [
            (
                f"{point.value:.6g}",
                *(marked(getattr(one, self.asked), one) for one in point.predictions),
            )
            for point in (self[at] for at in shown)
        ]
        title = (
            f"{_HEADINGS[self.asked]} by {self.name}, {len(shown)} of {len(self)} points; "
            f"{in_words(self.drive)}"
        )
        is_marked = any(OUTSIDE in cell for row in rows for cell in row)
        notes = [f"{OUTSIDE} outside the model's domain, as the warnings say"] if is_marked else []
        columns = (f">{self.name}", *(f">{one}" for one in names))
        warnings = [*self.warnings, *self.warnings_of_models]
        return Card(title, rows, columns, warnings=warnings, notes=notes)

    def figure(self) -> LineChart:
        """Describe a line for each model, thin and dotted outside its domain.

        Raises:
            WriteampError: no model answers at any value.
        """
        curves = [
            ModelCurve(
                first.model.name,
                [getattr(point.predictions[i], self.asked) for point in self],
                [point.predictions[i].in_domain for point in self],
            )
            for i, first in enumerate(self[0].predictions)
        ]
        values = [point.value for point in self]
        return models_over(self.name, values, curves, subtitle=in_words(self.drive))


def answer_of(prediction: Prediction, asked: Asked) -> dict[str, Any]:
    """Return a model's answer as JSON types; null is what it cannot answer."""
    return {
        "model": prediction.model.name,
        asked: json_number(getattr(prediction, asked)),
        "in_domain": prediction.in_domain,
        "warnings": list(prediction.warnings),
    }


def shown(value: float) -> str:
    """Return an answer with the digits that tables show."""
    return "-" if math.isnan(value) else f"{value:.4f}"


def marked(value: float, prediction: Prediction) -> str:
    """Return the value, with a mark if the model is outside its domain."""
    return shown(value) if prediction.in_domain else shown(value) + OUTSIDE


def in_words(drive: Mapping[str, Any]) -> str:
    """Return the known facts of a drive in words, as far as most models take them."""
    words = []
    if "op" in drive:
        words.append(space_in_words(drive["op"], drive["fill"], drive["spare_factor"]))
    if "target_wa" in drive:
        words.append(f"WA {drive['target_wa']:.6g}")
    if "utilization" in drive:
        words.append(
            f"utilization {drive['utilization']:.4g}, hot ratio {drive['hot_ratio']:.4g}"
            + (f": effective op {drive['effective_op']:.4g}" if "effective_op" in drive else "")
        )
    if "pages_per_block" in drive:
        words.append(f"{drive['pages_per_block']} pages per block")
    return ", ".join(words)


# A smaller error is within what the models differ by.
_LARGE_ERROR = 0.05


def wa_if_cold_data_moves(op: float, utilization: float, hot_ratio: float) -> float:
    """Return the WA of uniform writes to the hot part if collection moves all cold data along.

    With few writes to cold data, its blocks become worth collecting in turn. In each turn of the
    drive the share c = logical_of(utilization - hot_ratio, op) of the flash is then programmed for
    cold data, and 1 - c is left for `expected_value` at the effective op: simulation of one write
    frontier under greedy collection with 1% of the writes to cold data finds 1% to 5% less
    (docs/models.md).

    >>> round(wa_if_cold_data_moves(0.147, 0.9, 0.3), 3)
    2.83
    """
    wa = float(expected_value(effective_op(op, utilization, hot_ratio)))
    return wa / (1 - _cold_share(op, utilization, hot_ratio))


def caveat(op: float, utilization: float, hot_ratio: float) -> str | None:
    """Return a sentence on what the effective op takes for granted, where much depends on it."""
    error = _cold_share(op, utilization, hot_ratio)
    if error < _LARGE_ERROR:
        return None
    moved = wa_if_cold_data_moves(op, utilization, hot_ratio)
    return (
        "these answers suppose that cold data is never written: with 1% of the writes to it, one "
        f"write frontier moves it again and again, for a WA of about {moved:.3g}, so that "
        f"expected-value is {error:.0%} too low"
    )


def _cold_share(op: float, utilization: float, hot_ratio: float) -> float:
    """Return the share of the flash that holds cold data."""
    return logical_of(utilization - hot_ratio, op)
