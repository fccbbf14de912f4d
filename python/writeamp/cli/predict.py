"""`writeamp predict`: what the analytic models say, in microseconds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from writeamp.cli import options
from writeamp.cli.options import stdout
from writeamp.errors import WriteampError
from writeamp.plots import check_target
from writeamp.theory.answers import (
    OUTSIDE,
    Prediction,
    SweepPoint,
    answer_of,
    in_words,
    marked,
)
from writeamp.theory.models._registry import MODELS
from writeamp.theory.prediction import (
    DEFAULT_PAGES_PER_BLOCK,
    SWEEPABLE,
    Question,
    predict_sweep,
)
from writeamp.theory.prediction import predict as predict_wa

_PARTLY = "Drive that is partly full (give both)"
_MODELS = "Models"

# A table of a sweep shows this many of its points; the JSON document has all.
_ROWS = 12

_HEADINGS = {"wa": "WA", "op": "op"}


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("predict")(predict)


def _of_models(flag: str, help_text: str, **more: Any) -> Any:
    return typer.Option(flag, help=help_text, rich_help_panel=_MODELS, metavar="N", **more)


def predict(
    *,
    op: options.Op = None,
    fill: options.Fill = None,
    spare_factor: options.SpareFactor = None,
    pages_per_block: Annotated[
        int | None,
        typer.Option(
            "--pages-per-block",
            help=f"Pages of an erase block (default {DEFAULT_PAGES_PER_BLOCK}).",
            parser=options.count,
            metavar="N",
            rich_help_panel=options.CAPACITY,
        ),
    ] = None,
    target_wa: Annotated[
        float | None,
        typer.Option(
            "--target-wa",
            help="Ask for the op that this WA needs, instead of giving a ratio.",
            parser=options.number,
            metavar="WA",
        ),
    ] = None,
    utilization: Annotated[
        float | None,
        typer.Option(
            "--utilization",
            help="Share of the logical space that holds data.",
            parser=options.ratio,
            metavar="SHARE",
            rich_help_panel=_PARTLY,
        ),
    ] = None,
    hot_ratio: Annotated[
        float | None,
        typer.Option(
            "--hot-ratio",
            help="Share of the logical space that is written; the models then get the effective "
            "op ((1 - utilization) + op) / hot ratio.",
            parser=options.ratio,
            metavar="SHARE",
            rich_help_panel=_PARTLY,
        ),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            help=f"Only this model (repeatable): {', '.join(MODELS)}.",
            rich_help_panel=_MODELS,
        ),
    ] = None,
    d: Annotated[
        float, _of_models("--d", "d-choices: blocks drawn; inf is greedy.", parser=options.number)
    ] = 10,
    window: Annotated[
        int,
        _of_models(
            "--window", "coupon-collector: oldest blocks that compete.", parser=options.count
        ),
    ] = 64,
    reserve: Annotated[
        int,
        _of_models("--reserve", "coupon-collector: blocks held free.", parser=options.count),
    ] = 0,
    logical_blocks: Annotated[
        float,
        _of_models(
            "--logical-blocks",
            "Blocks that the host sees; inf is the limit of a large drive.",
            parser=options.number,
        ),
    ] = math.inf,
    sweep: Annotated[
        str | None,
        typer.Option(
            "--sweep",
            help=f"Run through evenly spaced values of {', '.join(SWEEPABLE)}.",
            metavar="NAME=FROM:TO:POINTS",
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", help="Draw the sweep (.png, .svg, .pdf or .html).", metavar="FILE"),
    ] = None,
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """Predict write amplification (WA) under uniform random writes, or the op that a WA needs.

    Example: writeamp predict --op 0.28 --pages-per-block 256

    Example: writeamp predict --sweep op=0.05:1.0:100 --plot wa.html
    """
    question: Question = {
        "op": op,
        "fill": fill,
        "spare_factor": spare_factor,
        "target_wa": target_wa,
        "utilization": utilization,
        "hot_ratio": hot_ratio,
        "d": d,
        "window": window,
        "reserve": reserve,
        "logical_blocks": logical_blocks,
        "models": model or None,
    }
    if pages_per_block is not None:
        question["pages_per_block"] = pages_per_block
    if sweep is not None:
        _sweep(sweep, question, plot, json=json, csv=csv)
        return
    if plot is not None:
        raise WriteampError("plot draws a sweep; give one, such as --sweep op=0.05:1.0:100")
    predictions = predict_wa(**question)
    for prediction in predictions:
        for warning in prediction.warnings:
            options.warn(f"{prediction.model.name}: {warning}")
    asked = predictions.asked
    drive = predictions.drive
    if json:
        rows = [answer_of(p, asked) | {"assumes": p.model.assumes} for p in predictions]
        options.print_json(drive | {"models": rows})
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


def _sweep(text: str, question: Question, plot: Path | None, *, json: bool, csv: bool) -> None:
    if plot is not None:
        check_target(plot)
    name = text.partition("=")[0]
    points = predict_sweep(text, **question)
    asked, drive = points.asked, points.drive
    models = [p.model for p in points[0].predictions]
    for i, model in enumerate(models):
        _warn_of_sweep(name, points, i, model.name)
    if plot is not None:
        points.plot(plot)
    if json:
        described = [{"model": model.name, "assumes": model.assumes} for model in models]
        rows = [
            {name: point.value, "models": [answer_of(p, asked) for p in point.predictions]}
            for point in points
        ]
        options.print_json(drive | {"models": described, "sweep": rows})
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
    # Broken where a narrow terminal would cut them.
    columns = [">" + model.name.replace("-", "-\n", 1) for model in models]
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
    """Return what a model assumes, or why the drive is not so."""
    if prediction.in_domain:
        return prediction.model.assumes
    return f"{OUTSIDE} OUTSIDE ITS DOMAIN: {'; '.join(prediction.warnings)}"
