"""Predictions of the analytic models for one drive, or for a swept parameter."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from numbers import Number
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from writeamp.errors import WriteampError, unknown, unknown_argument
from writeamp.fields.domains import as_ratio, finite, ratio_of, several, shown
from writeamp.fields.old_names import by_better_names, with_old_names
from writeamp.fields.setting import places_in
from writeamp.fields.shown_settings import with_settings_of
from writeamp.models._effective_op import effective_op
from writeamp.models._model import Model, ModelInputs
from writeamp.models._registry import MODELS, find_model
from writeamp.theory.answers import (
    ModelPredictions,
    Prediction,
    PredictionSweep,
    Quantity,
    SweepPoint,
)
from writeamp.theory.settings import SWEEPABLE, PredictionSettings
from writeamp.units.ratios import RATIOS, all_ratios, op_of

if TYPE_CHECKING:
    from writeamp.theory.arguments import PredictArguments

_PLACES = places_in((PredictionSettings,), "predict")
_DEFAULTS: dict[str, Any] = {field.name: field.default for field in fields(PredictionSettings)}
# Parameters that only some models have, with their defaults.
_OF_MODELS = {name: _DEFAULTS[name] for name in ("d", "window", "reserve", "logical_blocks")}

_MOST_POINTS = 10_000


@with_settings_of(_PLACES)
def predict(**question: Unpack[PredictArguments]) -> ModelPredictions:
    """Predict the WA of uniform random writes, or the op that a target WA requires.

    If a model cannot compute the drive, its prediction is NaN, with a warning. If that model was
    named in `models`, an error is raised instead.

    Args:
        question: the drive, and either a ratio of spare space or `target_wa`; listed below.

    Returns:
        `ModelPredictions`, a list of `Prediction`: `model`, `wa`, `op`, `in_domain`, `warnings`.

    Raises:
        WriteampError: no ratio, two ratios, an invalid value, or an unknown model.

    >>> import writeamp as wa
    >>> for row in wa.predict(op=0.28, pages_per_block=256, models=["expected-value", "markov"]):
    ...     print(row.model.name, round(float(row.wa), 4))
    expected-value 2.4814
    markov 2.461
    """
    question = _checked_names("predict", question)
    models, target_wa = question.get("models"), question.get("target_wa")
    if models is None:
        chosen = [model for model in MODELS.values() if model.is_default]
    else:
        chosen = [find_model(name) for name in several(models)]
    settings: dict[str, Any] = {**_DEFAULTS, **question}
    settings |= {
        name: as_ratio(name, settings[name]) for name in ("utilization", "written_fraction")
    }
    del settings["models"]
    drive, known_drive = check_question(**settings), _drive_of(settings)
    strict = models is not None
    if target_wa is not None:
        answers = [_inverse(model, target_wa, drive, strict) for model in chosen]
        return ModelPredictions(answers, "op", known_drive)
    return ModelPredictions([_forward(model, drive, strict) for model in chosen], "wa", known_drive)


def _checked_names(function: str, question: PredictArguments) -> PredictArguments:
    """Return the arguments by their better names; reject arguments that `predict` lacks."""
    renamed = by_better_names(question)
    for name in renamed:
        if name not in _PLACES:
            raise unknown_argument(function, name, _PLACES)
    return renamed  # type: ignore[return-value]


def check_question(
    *,
    op: float | None = None,
    fill: float | None = None,
    spare_factor: float | None = None,
    target_wa: float | None = None,
    utilization: float | None = None,
    written_fraction: float | None = None,
    **parameters: float,
) -> ModelInputs:
    """Return the model inputs from the arguments of `predict`.

    With a target WA, the op of the inputs is a placeholder.

    Raises:
        WriteampError: no ratio, two ratios, or an invalid value.
    """
    inputs = ModelInputs(op=1.0, **parameters)
    utilization = as_ratio("utilization", utilization)
    written_fraction = as_ratio("written_fraction", written_fraction)
    drive_op = op_of(op=op, fill=fill, spare_factor=spare_factor)
    if target_wa is not None:
        ratios = {"op": op, "fill": fill, "spare_factor": spare_factor}
        of_part = {"utilization": utilization, "written_fraction": written_fraction}
        for name, value in (ratios | of_part).items():
            if value is not None:
                raise WriteampError(
                    f"{name} and target_wa exclude each other, because target_wa gives the op of a "
                    "full drive; give only one of them"
                )
        _require_amplified(target_wa)
        return inputs
    if drive_op is None:
        raise WriteampError(
            f"over-provisioning is missing; give one of {', '.join(RATIOS)}, or target_wa"
        )
    drive = replace(inputs, op=drive_op)
    shares = _shares(utilization, written_fraction)
    if shares is None:
        return drive
    effective = float(effective_op(drive_op, *shares))
    return replace(drive, op=effective, logical_blocks=inputs.logical_blocks * shares[1])


def _shares(
    utilization: float | None, written_fraction: float | None
) -> tuple[float, float] | None:
    """Return utilization and written fraction (default: the utilization), or None if not given.

    Raises:
        WriteampError: written_fraction without utilization, or a value that is not a number.
    """
    for name, share in (("utilization", utilization), ("written_fraction", written_fraction)):
        if share is not None and not isinstance(share, Number):
            raise WriteampError(f"{name} is {shown(share)}; it must be a number")
    if utilization is not None:
        return utilization, utilization if written_fraction is None else written_fraction
    if written_fraction is not None:
        raise WriteampError("utilization is missing; written_fraction needs it")
    return None


def _require_amplified(target_wa: float) -> None:
    if not finite(target_wa) > 1:
        raise WriteampError(f"target_wa is {shown(target_wa)}; it must be a finite number above 1")


def _forward(model: Model, drive: ModelInputs, strict: bool) -> Prediction:
    try:
        return Prediction(model, model.wa(drive), drive.op, model.warnings(drive))
    except WriteampError as error:
        if strict:
            raise
        return Prediction(model, math.nan, drive.op, (str(error),))


def _inverse(model: Model, target_wa: float, parameters: ModelInputs, strict: bool) -> Prediction:
    names = model.inverse_parameters
    try:
        op = float(model.inverse(wa=target_wa, **parameters.arguments(names)))
    except WriteampError as error:
        if strict:
            raise
        return Prediction(model, target_wa, math.nan, (str(error),))
    return Prediction(model, target_wa, op, model.warnings(replace(parameters, op=op)))


@dataclass(frozen=True)
class SweptParameter:
    """A parameter of `predict` and its values in a sweep."""

    name: str
    values: tuple[float, ...]


def parse_sweep(text: str, names: Sequence[str] = SWEEPABLE) -> SweptParameter:
    """Parse "name=from:to:points": evenly spaced values, both ends included.

    Values of pages_per_block are rounded to whole numbers, without duplicates.

    Args:
        text: text to parse.
        names: names of parameters that can be swept.

    Raises:
        WriteampError: another form, or a parameter that cannot be swept.
    """
    name, equals, span = text.partition("=")
    if equals and name not in names:
        raise unknown("swept parameter", name, names)
    try:
        first, last, points = span.split(":")
        low, high, number = _end(name, first), _end(name, last), int(points)
    except ValueError:
        low = high = math.nan
        number = 0
    if not (math.isfinite(low) and math.isfinite(high) and 2 <= number <= _MOST_POINTS):
        raise WriteampError(
            f"sweep {text!r} is not name=from:to:points, such as op=0.05:1.0:100, with finite ends "
            f"and 2 to {_MOST_POINTS} points"
        )
    if name == "op" and min(low, high) > 0:
        op_of(op=low), op_of(op=high)  # rejects an op that is a percentage without its % sign
    # Rounded to 15 digits, so that 0.12 is not 0.12000000000000001.
    values = np.array([float(f"{value:.15g}") for value in np.linspace(low, high, number)])
    if name == "pages_per_block":
        values = np.rint(values)
    return SweptParameter(name, tuple(dict.fromkeys(values.tolist())))


def _end(name: str, text: str) -> float:
    """Return an end of a sweep; ratios may be percentages."""
    return ratio_of(text) if name in RATIOS and text.endswith("%") else float(text)


def predict_sweep(
    sweep: SweptParameter | str, **question: Unpack[PredictArguments]
) -> PredictionSweep:
    """Call `predict` for a range of values of one argument.

    Args:
        sweep: the argument and its values, also as text such as "op=0.05:1.0:100" (see
            `parse_sweep`).
        question: the other arguments of `predict`.

    Returns:
        `PredictionSweep`, a list of the `ModelPredictions` of each value; `to_frame()`, `plot()`.

    Raises:
        WriteampError: the swept argument is also given, or errors of `predict` and `parse_sweep`.

    >>> import writeamp as wa
    >>> points = wa.predict_sweep("op=0.1:0.3:3", models=["expected-value"])
    >>> [(round(point.value, 2), round(point.predictions[0].wa, 3)) for point in points]
    [(0.1, 5.677), (0.2, 3.188), (0.3, 2.364)]
    """
    if not isinstance(sweep, str | SweptParameter):
        raise WriteampError(
            f"sweep is {shown(sweep)}; it must be text such as op=0.05:1.0:100, or a SweptParameter"
        )
    question = _checked_names("predict_sweep", question)
    steps = parse_sweep(sweep) if isinstance(sweep, str) else sweep
    if question.get(steps.name) is not None:
        raise WriteampError(
            f"{steps.name} is swept and also given as a single value; leave out the single value"
        )
    points = []
    for value in steps.values:
        step: PredictArguments = {**question, steps.name: value}  # type: ignore[misc]
        points.append(SweepPoint(value, predict(**step)))
    quantity: Quantity = "op" if question.get("target_wa") or steps.name == "target_wa" else "wa"
    shares: PredictArguments = {
        "utilization": as_ratio("utilization", question.get("utilization")),
        "written_fraction": as_ratio("written_fraction", question.get("written_fraction")),
    }
    return PredictionSweep(
        points, steps.name, quantity, _drive_of({**question, **shares}, steps.name)
    )


def _drive_of(question: Mapping[str, Any], swept: str | None = None) -> dict[str, Any]:
    """Return the known parameters of the drive without the swept one; None means infinite."""
    op = op_of(**{name: question.get(name) for name in RATIOS})
    facts: dict[str, Any] = {}
    if op is not None:
        facts |= all_ratios(op)
    shares = _shares(question.get("utilization"), question.get("written_fraction"))
    if shares is not None:
        if op is not None:
            facts["effective_op"] = float(effective_op(op, *shares))
        facts |= with_old_names({"utilization": shares[0], "written_fraction": shares[1]})
    if question.get("target_wa") is not None:
        facts["target_wa"] = question["target_wa"]
    if swept != "pages_per_block":
        facts["pages_per_block"] = question.get(
            "pages_per_block", PredictionSettings.pages_per_block
        )
    for name, default in _OF_MODELS.items():
        value = question.get(name, default)
        facts[name] = None if value == math.inf else value
    return facts
