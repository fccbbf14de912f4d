"""`writeamp predict`: WA or op by the analytic models, which take microseconds to compute."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from writeamp.cli import options
from writeamp.cli.progress_bar import Bar
from writeamp.cli.setting_options import with_settings
from writeamp.errors import WriteampError
from writeamp.theory.settings import (
    CacheSettings,
    PredictionSettings,
    PredictionSweepSettings,
)
from writeamp.units.ratios import RATIOS

if TYPE_CHECKING:
    from writeamp.theory.answers import ModelPredictions, PredictionSweep


# Settings of `predict` that --fdp uses as well.
_OF_CACHES = (*RATIOS, "utilization")


def register(app: typer.Typer) -> None:
    """Add the subcommand to the command line."""
    app.command("predict")(with_settings(predict))


def predict(
    question: Annotated[dict[str, Any], PredictionSettings],
    swept: PredictionSweepSettings,
    cache: CacheSettings,
    *,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            help="Draw the predictions of --sweep to this file (.png, .svg, .pdf or .html).",
            metavar="FILE",
        ),
    ] = None,
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """Predict write amplification (WA) for uniform random writes, or the op for a given WA.

    op is the over-provisioning ratio. The prediction uses formulas, without a simulation.

    Example: writeamp predict --op 0.28 --pages-per-block 256

    Example: writeamp predict --sweep op=0.05:1.0:100 --plot wa.html

    Example: writeamp predict --fdp soc=4% --op 0.07
    """
    if cache.fdp is not None:
        others = {**question, "sweep": swept.sweep, "plot": plot}
        _predict_fdp(cache.fdp, others, json=json, csv=csv)
        return
    if swept.sweep is not None:
        _predict_sweep(swept.sweep, question, plot, json=json, csv=csv)
        return
    if plot is not None:
        raise WriteampError("--plot needs a sweep; give one, such as --sweep op=0.05:1.0:100")
    from writeamp.theory.answers import answer_of  # noqa: PLC0415 (slow)
    from writeamp.theory.prediction import predict as predictions_of  # noqa: PLC0415 (slow)

    with Bar("predicting"):
        predictions = predictions_of(**question)
    model_warnings = [
        f"{prediction.model.name}: {warning}"
        for prediction in predictions
        for warning in prediction.warnings
    ]
    rows = [
        answer_of(prediction, predictions.quantity) | {"assumes": prediction.model.assumes}
        for prediction in predictions
    ]
    _print(predictions, model_warnings, predictions.drive | {"models": rows}, json=json, csv=csv)


def _predict_fdp(text: str, others: dict[str, Any], *, json: bool, csv: bool) -> None:
    """Print the prediction for a flash cache; reject options that it does not use."""
    drive = {name: others.pop(name) for name in _OF_CACHES if name in others}
    for name, value in others.items():
        if value is not None:
            option = "--model" if name == "models" else f"--{name.replace('_', '-')}"
            raise WriteampError(
                f"--fdp and {option} exclude each other; beside --fdp, give only a ratio of spare "
                "space and --utilization"
            )
    from writeamp.theory.fdp import predict_fdp  # noqa: PLC0415 (slow)

    prediction = predict_fdp(text, **drive)
    for sentence in prediction.notes:
        options.note(sentence)
    options.show(prediction.to_dict, prediction.card, frame=prediction.to_frame, json=json, csv=csv)


def _predict_sweep(
    text: str, question: dict[str, Any], plot: Path | None, *, json: bool, csv: bool
) -> None:
    """Print and draw the predictions at each point of a sweep."""
    from writeamp.plots import check_target  # noqa: PLC0415 (slow)
    from writeamp.theory.answers import answer_of  # noqa: PLC0415 (slow)
    from writeamp.theory.prediction import predict_sweep  # noqa: PLC0415 (slow)

    if plot is not None:
        check_target(plot)
    with Bar("predicting"):
        points = predict_sweep(text, **question)
    models = [prediction.model for prediction in points[0].predictions]
    rows = [
        {
            points.name: point.value,
            "models": [answer_of(p, points.quantity) for p in point.predictions],
        }
        for point in points
    ]
    document = points.drive | {
        "models": [{"model": model.name, "assumes": model.assumes} for model in models],
        "sweep": rows,
    }
    if plot is not None:
        points.plot(plot)
    _print(points, points.warnings_of_models, document, json=json, csv=csv)


def _print(
    result: ModelPredictions | PredictionSweep,
    model_warnings: list[str],
    document: dict[str, Any],
    *,
    json: bool,
    csv: bool,
) -> None:
    """Print the warnings, then the predictions as table, JSON or CSV."""
    for sentence in (*result.warnings, *model_warnings):
        options.warn(sentence)
    options.show(
        lambda: document | {"warnings": result.warnings},
        result.card,
        frame=result.to_frame,
        figure=result.figure,
        json=json,
        csv=csv,
    )
