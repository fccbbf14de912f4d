"""Predictions of the analytic models for one drive, or for a row of drives."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from numbers import Number
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from writeamp.errors import WriteampError, unknown, unknown_argument
from writeamp.fields.domains import as_ratio, finite, ratio_of, several, shown
from writeamp.fields.setting import places_in
from writeamp.fields.shown_settings import with_settings_of
from writeamp.models._effective_op import effective_op
from writeamp.models._model import Model, ModelInputs
from writeamp.models._registry import MODELS, find_model
from writeamp.theory.answers import Asked, ModelPredictions, Prediction, PredictionSweep, SweepPoint
from writeamp.theory.settings import SWEEPABLE, PredictionSettings
from writeamp.units.ratios import RATIOS, all_ratios, op_of

if TYPE_CHECKING:
    from writeamp.theory.arguments import PredictArguments

_PLACES = places_in((PredictionSettings,), "predict")
_DEFAULTS: dict[str, Any] = {one.name: one.default for one in fields(PredictionSettings)}
# What some models take besides, and its defaults.
_OF_MODELS = {name: _DEFAULTS[name] for name in ("d", "window", "reserve", "logical_blocks")}

_MOST_POINTS = 10_000


@with_settings_of(_PLACES)
def predict(**question: Unpack[PredictArguments]) -> ModelPredictions:
    """Ask models, or those named, for the WA of uniform random writes, or for the op it needs.

    A model that was not named in `models` and cannot answer is left NaN with a warning; one that
    was named is an error.

    Args:
        question: the drive, and either one of its ratios or `target_wa`; listed below.

    Returns:
        `ModelPredictions`, a list of `Prediction`: `model`, `wa`, `op`, `in_domain`, `warnings`.

    Raises:
        WriteampError: no ratio, two ratios, a value outside its domain, or an unknown model.

    >>> import writeamp as wa
    >>> for found in wa.predict(op=0.28, pages_per_block=256, models=["expected-value", "markov"]):
    ...     print(found.model.name, round(float(found.wa), 4))
    expected-value 2.4814
    markov 2.461
    """
    _check_names("predict", question)
    models, target_wa = question.get("models"), question.get("target_wa")
    if models is None:
        chosen = [model for model in MODELS.values() if model.is_default]
    else:
        chosen = [find_model(name) for name in several(models)]
    asked: dict[str, Any] = {**_DEFAULTS, **question}
    asked |= {name: as_ratio(name, asked[name]) for name in ("utilization", "hot_ratio")}
    del asked["models"]
    drive, known = check_question(**asked), _drive_of(asked)
    strict = models is not None
    if target_wa is not None:
        answers = [_inverse(model, target_wa, drive, strict) for model in chosen]
        return ModelPredictions(answers, "op", known)
    return ModelPredictions([_forward(model, drive, strict) for model in chosen], "wa", known)


def _check_names(function: str, question: Mapping[str, object]) -> None:
    """Refuse arguments that `predict` has not."""
    for name in question:
        if name not in _PLACES:
            raise unknown_argument(function, name, _PLACES)


def check_question(
    *,
    op: float | None = None,
    fill: float | None = None,
    spare_factor: float | None = None,
    target_wa: float | None = None,
    utilization: float | None = None,
    hot_ratio: float | None = None,
    **parameters: float,
) -> ModelInputs:
    """Return the drive that the arguments of `predict` mean; its op is 1 if a WA is given.

    Raises:
        WriteampError: no ratio, two ratios, or a value outside its domain.
    """
    inputs = ModelInputs(op=1.0, **parameters)
    utilization = as_ratio("utilization", utilization)
    hot_ratio = as_ratio("hot_ratio", hot_ratio)
    given = op_of(op=op, fill=fill, spare_factor=spare_factor)
    if target_wa is not None:
        ratios = {"op": op, "fill": fill, "spare_factor": spare_factor}
        of_part = {"utilization": utilization, "hot_ratio": hot_ratio}
        for name, value in (ratios | of_part).items():
            if value is not None:
                raise WriteampError(
                    f"{name} and target_wa exclude each other: target_wa asks for the op of a full "
                    "drive; give only one of them"
                )
        _require_amplified(target_wa)
        return inputs
    if given is None:
        raise WriteampError(
            f"over-provisioning is missing; give one of {', '.join(RATIOS)}, or target_wa"
        )
    drive = replace(inputs, op=given)
    shares = _shares(utilization, hot_ratio)
    if shares is None:
        return drive
    effective = float(effective_op(given, *shares))
    return replace(drive, op=effective, logical_blocks=inputs.logical_blocks * shares[1])


def _shares(utilization: float | None, hot_ratio: float | None) -> tuple[float, float] | None:
    """Return both shares, or None of a full drive; all data is written, unless a part is said.

    Raises:
        WriteampError: utilization is missing, or a share is no number.
    """
    for name, share in (("utilization", utilization), ("hot_ratio", hot_ratio)):
        if share is not None and not isinstance(share, Number):
            raise WriteampError(f"{name} is {shown(share)}; it must be a number")
    if utilization is not None:
        return utilization, utilization if hot_ratio is None else hot_ratio
    if hot_ratio is not None:
        raise WriteampError("utilization is missing; hot_ratio is a part of it")
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
    """A parameter of `predict` and the values that it runs through."""

    name: str
    values: tuple[float, ...]


def parse_sweep(text: str, names: Sequence[str] = SWEEPABLE) -> SweptParameter:
    """Read "name=from:to:points": evenly spaced values, both ends included.

    Values of pages_per_block are rounded to whole numbers, and equal ones are taken once.

    Args:
        text: what to read.
        names: what can be swept.

    Raises:
        WriteampError: the text has another form, or names what cannot be swept.
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
        op_of(op=low), op_of(op=high)  # per cent without the sign is asked back
    # To fifteen digits, so that 0.12 is not 0.12000000000000001.
    values = np.array([float(f"{value:.15g}") for value in np.linspace(low, high, number)])
    if name == "pages_per_block":
        values = np.rint(values)
    return SweptParameter(name, tuple(dict.fromkeys(values.tolist())))


def _end(name: str, text: str) -> float:
    """Return one end of a sweep; that of a ratio may be in per cent."""
    return ratio_of(text) if name in RATIOS and text.endswith("%") else float(text)


def predict_sweep(
    sweep: SweptParameter | str, **question: Unpack[PredictArguments]
) -> PredictionSweep:
    """Call `predict` for every value of one of its arguments.

    Args:
        sweep: what to vary, also as text such as "op=0.05:1.0:100" (see `parse_sweep`).
        question: the other arguments of `predict`.

    Returns:
        `PredictionSweep`, a list of the `ModelPredictions` of each value; `to_frame()`, `plot()`.

    Raises:
        WriteampError: the swept argument is given too, or as `predict` and `parse_sweep` raise.

    >>> import writeamp as wa
    >>> points = wa.predict_sweep("op=0.1:0.3:3", models=["expected-value"])
    >>> [(round(point.value, 2), round(point.predictions[0].wa, 3)) for point in points]
    [(0.1, 5.677), (0.2, 3.188), (0.3, 2.364)]
    """
    if not isinstance(sweep, str | SweptParameter):
        raise WriteampError(f"sweep is {shown(sweep)}; it must be text such as op=0.05:1.0:100")
    _check_names("predict_sweep", question)
    steps = parse_sweep(sweep) if isinstance(sweep, str) else sweep
    if question.get(steps.name) is not None:
        raise WriteampError(f"{steps.name} is swept; give it no other value")
    points = []
    for value in steps.values:
        step: PredictArguments = {**question, steps.name: value}  # type: ignore[misc]
        points.append(SweepPoint(value, predict(**step)))
    asked: Asked = "op" if question.get("target_wa") or steps.name == "target_wa" else "wa"
    given: PredictArguments = {
        "utilization": as_ratio("utilization", question.get("utilization")),
        "hot_ratio": as_ratio("hot_ratio", question.get("hot_ratio")),
    }
    return PredictionSweep(points, steps.name, asked, _drive_of({**question, **given}, steps.name))


def _drive_of(question: Mapping[str, Any], swept: str | None = None) -> dict[str, Any]:
    """Return the known facts of the drive, without what is swept; null is infinite."""
    op = op_of(**{name: question.get(name) for name in RATIOS})
    found: dict[str, Any] = {}
    if op is not None:
        found |= all_ratios(op)
    shares = _shares(question.get("utilization"), question.get("hot_ratio"))
    if shares is not None:
        if op is not None:
            found["effective_op"] = float(effective_op(op, *shares))
        found |= {"utilization": shares[0], "hot_ratio": shares[1]}
    if question.get("target_wa") is not None:
        found["target_wa"] = question["target_wa"]
    if swept != "pages_per_block":
        found["pages_per_block"] = question.get(
            "pages_per_block", PredictionSettings.pages_per_block
        )
    for name, default in _OF_MODELS.items():
        value = question.get(name, default)
        found[name] = None if value == math.inf else value
    return found
