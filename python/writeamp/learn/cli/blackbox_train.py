"""`writeamp blackbox train` and `evaluate`: fit models to measurements, and score them."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from writeamp.cli import options
from writeamp.cli.options import stdout
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
from writeamp.results.frames import frame_of
from writeamp.results.numbers import four_digits, json_number, percent_in_words

if TYPE_CHECKING:
    from writeamp.learn.blackbox.predictions import Score
    from writeamp.learn.blackbox.training import BlackBox

_Measurements = Annotated[
    Path,
    typer.Argument(
        help="Measurements (.parquet, as `blackbox collect` writes them, or .csv).",
        metavar="MEASUREMENTS",
        show_default=False,
    ),
]


def train_model(
    measurements: _Measurements,
    asked: TrainingSettings,
    of: MeasuredDriveSettings,
    *,
    out: Annotated[
        Path,
        typer.Option("--out", help="The model.", metavar="FILE", show_default=False),
    ],
    json: options.Json = False,
) -> None:
    """Fit a model of a drive to its measurements.

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
            features=asked.features,
            model=asked.model,
            targets=asked.targets,
            level=asked.level,
            prior=asked.prior,
            progress=bar.update,
        )
    if asked.targets is None:
        for target in set(targets_in(table)) - set(trained.estimators):
            options.note(f"{target} was measured too rarely for a model, and is left out")
    model_file.save(trained, out)
    _note_grid(trained)
    rows = {target: len(marks) for target, marks in trained.trained_on.items()}
    found = {
        "out": str(out),
        "drive": trained.drive,
        "features": asked.features,
        "model": asked.model,
        "level": asked.level,
        "prior": asked.prior,
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
    if options.printed_json(lambda: found, json=json):
        return
    title = f"{out}: {asked.model} on the {asked.features} features"
    options.print_card(replace(trained.card(), title=title))


def evaluate_model(
    model: Annotated[
        Path, typer.Argument(help="A trained model.", metavar="MODEL", show_default=False)
    ],
    measurements: _Measurements,
    asked: EvaluationSettings,
    of: MeasuredDriveSettings,
    *,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            help="Draw what was measured against what was predicted (.png, .svg, .pdf or .html).",
            metavar="FILE",
        ),
    ] = None,
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """Score a model on measurements that it has not seen: R², mean absolute and relative error.

    Example: writeamp blackbox evaluate x25m.model x25m.parquet --cv 5
    """
    from writeamp.learn.blackbox import model_file, pictures  # noqa: PLC0415 (takes seconds)

    if plot is not None:
        check_target(plot)
    cv = asked.cv
    trained = model_file.load(model)
    table = read_measurements(measurements, of.drive)
    with Bar("evaluating", _words) as bar:
        held_out = (
            trained.held_out(table)
            if cv is None
            else trained.cross_held_out(table, cv, progress=bar.update)
        )
    scores = [one.score for one in held_out]
    if plot is not None:
        how = "held out" if cv is None else f"{cv}-fold cross-validation"
        save(pictures.comparison(trained, held_out, f"{table.height} rows, {how}"), plot)
    found = {
        "model": str(model),
        "measurements": str(measurements),
        "cv": cv,
        "level": trained.level,
        "metrics": [one.to_dict() for one in scores],
    }
    if options.printed_json(lambda: found, json=json):
        return
    if csv:
        options.print_csv(frame_of(one.to_dict() for one in scores))
        return
    stdout.print(_table(f"{model} on {measurements}", scores, trained.level))


def _note_grid(trained: BlackBox) -> None:
    if all(math.isnan(mre) for mre in trained.between_mre.values()):
        options.note(
            "hardly any row lies between the others' sizes and depths, so errors and intervals are "
            "those of the grid; the design mixed of `blackbox collect` measures between"
        )


def _words(done: int, expected: int) -> str:
    return f"{done} of {expected} targets"


def _table(title: str, scores: list[Score], level: float) -> Any:
    columns = [
        "target",
        "unit",
        ">R²",
        ">MAE",
        ">mean",
        ">MRE",
        f">in {level:.0%}",
        ">n",
        ">between",
    ]
    rows = [
        [
            one.target,
            UNITS[one.target],
            "–" if math.isnan(one.r2) else f"{one.r2:.4f}",
            four_digits(one.mae),
            four_digits(one.mean),
            f"{one.mre:.2%}",
            f"{one.coverage:.1%}",
            str(one.n),
            percent_in_words(one.between_mre),
        ]
        for one in scores
    ]
    return options.table(title, columns, rows)
