"""`writeamp blackbox train` and `evaluate`: training and scoring of models."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from writeamp.cli import options
from writeamp.cli.progress_bar import Bar
from writeamp.files import output
from writeamp.learn.blackbox.measurement_file import read_measurements
from writeamp.learn.blackbox.measurements import UNITS, targets_in
from writeamp.learn.blackbox.settings import (
    EvaluationSettings,
    MeasuredDriveSettings,
    TrainingSettings,
)
from writeamp.plots import check_target, save
from writeamp.results.card import Card
from writeamp.results.frames import frame_of
from writeamp.results.numbers import four_digits, json_number, percent_in_words

if TYPE_CHECKING:
    from writeamp.learn.blackbox.predictions import Score
    from writeamp.learn.blackbox.training import BlackBox

_Measurements = Annotated[
    Path,
    typer.Argument(
        help="Measurements: the Parquet file of `blackbox collect`, or a CSV file.",
        metavar="MEASUREMENTS",
        show_default=False,
    ),
]


def train_model(
    measurements: _Measurements,
    settings: TrainingSettings,
    of: MeasuredDriveSettings,
    *,
    out: Annotated[
        Path,
        typer.Option(
            "--out", help="File to which the model is written.", metavar="FILE", show_default=False
        ),
    ],
    json: options.Json = False,
) -> None:
    """Train a model of a drive on its measurements.

    Example: writeamp blackbox train x25m.parquet --features extended --out x25m.model
    """
    from writeamp.learn.blackbox import model_file, training  # noqa: PLC0415 (takes seconds)

    output.check_distinct([out, measurements])
    output.check_target(out, "model")
    table = read_measurements(measurements, of.drive)
    started = time.perf_counter()
    with Bar("training", _words) as bar:
        trained = training.train(
            table,
            features=settings.features,
            model=settings.model,
            targets=settings.targets,
            level=settings.level,
            prior=settings.prior,
            progress=bar.update,
        )
    if settings.targets is None:
        for target in set(targets_in(table)) - set(trained.estimators):
            options.note(f"{target} is left out, because too few rows have a value of it")
    model_file.save(trained, out)
    _note_grid(trained)
    rows = {target: len(marks) for target, marks in trained.trained_on.items()}
    document = {
        "out": str(out),
        "drive": trained.drive,
        "features": settings.features,
        "model": settings.model,
        "level": settings.level,
        "prior": settings.prior,
        "joint": trained.is_joint,
        "targets": [
            {
                "target": target,
                "rows": rows[target],
                "unseen_mre": trained.unseen_mre[target],
                "between_mre": json_number(trained.between_mre[target]),
            }
            for target in rows
        ],
        "elapsed_s": time.perf_counter() - started,
    }
    title = f"{out}: {settings.model} on the {settings.features} features"
    options.show(lambda: document, lambda: replace(trained.card(), title=title), json=json)


def evaluate_model(
    model: Annotated[
        Path,
        typer.Argument(
            help="Trained model: a file of `blackbox train`.", metavar="MODEL", show_default=False
        ),
    ],
    measurements: _Measurements,
    settings: EvaluationSettings,
    of: MeasuredDriveSettings,
    *,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            help="Draw measured values (x axis) and predicted values (y axis) of each row (.png, "
            ".svg, .pdf or .html).",
            metavar="FILE",
        ),
    ] = None,
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """Score a model on unseen measurements: R², mean absolute and mean relative error.

    Example: writeamp blackbox evaluate x25m.model x25m.parquet --cv 5
    """
    from writeamp.learn.blackbox import model_file, pictures  # noqa: PLC0415 (takes seconds)

    if plot is not None:
        check_target(plot)
    cv = settings.cv
    trained = model_file.load(model)
    table = read_measurements(measurements, of.drive)
    with Bar("evaluating", _words) as bar:
        held_out = (
            trained.held_out(table)
            if cv is None
            else trained.cross_held_out(table, cv, progress=bar.update)
        )
    scores = [pair.score for pair in held_out]
    if plot is not None:
        how = "held out" if cv is None else f"{cv}-fold cross-validation"
        save(pictures.comparison(trained, held_out, f"{table.height} rows, {how}"), plot)
    document = {
        "model": str(model),
        "measurements": str(measurements),
        "cv": cv,
        "level": trained.level,
        "metrics": [score.to_dict() for score in scores],
    }
    options.show(
        lambda: document,
        lambda: _card(f"{model} on {measurements}", scores, trained.level),
        frame=lambda: frame_of(score.to_dict() for score in scores),
        json=json,
        csv=csv,
    )


def _note_grid(trained: BlackBox) -> None:
    if all(math.isnan(mre) for mre in trained.between_mre.values()):
        options.note(
            "errors and intervals hold on the grid of measured sizes and depths only; to measure "
            "between these values, use `blackbox collect --design mixed`"
        )


def _words(done: int, expected: int) -> str:
    return f"{done} of {expected} targets"


def _card(title: str, scores: list[Score], level: float) -> Card:
    columns = [
        "target",
        "unit",
        ">R²",
        ">MAE",
        ">mean measured",
        ">MRE",
        f">in {level:.0%} interval",
        ">rows",
        ">MRE between levels",
    ]
    rows = [
        [
            score.target,
            UNITS[score.target],
            "–" if math.isnan(score.r2) else f"{score.r2:.4f}",
            four_digits(score.mae),
            four_digits(score.mean),
            f"{score.mre:.2%}",
            f"{score.coverage:.1%}",
            str(score.n),
            percent_in_words(score.between_mre),
        ]
        for score in scores
    ]
    return Card(title, rows, columns)
