"""The answers of `writeamp predict`, as tables and documents."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from writeamp.cli import options
from writeamp.cli.options import stdout
from writeamp.cli.progress_bar import Bar
from writeamp.plots import check_target
from writeamp.theory.answers import (
    OUTSIDE,
    Prediction,
    SweepPoint,
    answer_of,
    in_words,
    marked,
)
from writeamp.theory.prediction import predict, predict_sweep

# A table of a sweep shows this many of its points; the JSON document has all.
_ROWS = 12

_HEADINGS = {"wa": "WA", "op": "op"}


def print_predictions(question: dict[str, Any], *, json: bool, csv: bool) -> None:
    """Print what the models say of one drive."""
    with Bar("predicting"):
        predictions = predict(**question)
    for sentence in predictions.warnings:
        options.warn(sentence)
    for prediction in predictions:
        for warning in prediction.warnings:
            options.warn(f"{prediction.model.name}: {warning}")
    asked = predictions.asked
    drive = predictions.drive
    rows = [answer_of(p, asked) | {"assumes": p.model.assumes} for p in predictions]
    document = drive | {"models": rows, "warnings": predictions.warnings}
    if options.printed_json(lambda: document, json=json):
        return
    if csv:
        options.print_csv(predictions.to_frame())
        return
    cells = [
        (p.model.name, marked(getattr(p, asked), p), _assumed(p))
        for p in sorted(predictions, key=lambda p: not p.in_domain)
    ]
    stdout.print(
        options.table(in_words(drive), ("model", f">{_HEADINGS[asked]}", "assumes"), cells)
    )


def print_sweep(
    text: str, question: dict[str, Any], plot: Path | None, *, json: bool, csv: bool
) -> None:
    """Print what the models say of a row of drives, and draw it."""
    if plot is not None:
        check_target(plot)
    name = text.partition("=")[0]
    with Bar("predicting"):
        points = predict_sweep(text, **question)
    asked, drive = points.asked, points.drive
    models = [p.model for p in points[0].predictions]
    for sentence in points.warnings:
        options.warn(sentence)
    for i, model in enumerate(models):
        _warn_of_sweep(name, points, i, model.name)
    if plot is not None:
        points.plot(plot)
    described = [{"model": model.name, "assumes": model.assumes} for model in models]
    rows = [
        {name: point.value, "models": [answer_of(p, asked) for p in point.predictions]}
        for point in points
    ]
    document = drive | {"models": described, "sweep": rows, "warnings": points.warnings}
    if options.printed_json(lambda: document, json=json):
        return
    if csv:
        options.print_csv(points.to_frame())
        return
    shown = sorted({round(i * (len(points) - 1) / (_ROWS - 1)) for i in range(_ROWS)})
    cells = [
        (f"{points[i].value:.6g}", *(marked(getattr(p, asked), p) for p in points[i].predictions))
        for i in shown
    ]
    title = f"{_HEADINGS[asked]} by {name}, {len(shown)} of {len(points)} points; {in_words(drive)}"
    columns = [f">{model.name}" for model in models]
    stdout.print(options.table(title, (f">{name}", *columns), cells))
    if any(OUTSIDE in cell for row in cells for cell in row):
        stdout.print(f"{OUTSIDE} outside the model's domain, as the warnings say")


def _warn_of_sweep(name: str, points: Sequence[SweepPoint], index: int, model: str) -> None:
    """Say once for a model how much of the sweep is outside what it assumes, and why."""
    outside = [p for p in points if p.predictions[index].warnings]
    if outside:
        first = outside[0]
        options.warn(
            f"{model}: {len(outside)} of {len(points)} points lie outside, the first at {name} "
            f"{first.value:.6g}: {'; '.join(first.predictions[index].warnings)}"
        )


def _assumed(prediction: Prediction) -> str:
    """Return the assumptions of a model, or why the drive does not meet them."""
    if prediction.in_domain:
        return prediction.model.assumes
    return f"{OUTSIDE} OUTSIDE ITS DOMAIN: {'; '.join(prediction.warnings)}"
