"""`writeamp blackbox predict` and `choose`: predictions, and drives that meet bounds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import polars as pl
import typer

from writeamp.cli import findings, options
from writeamp.cli.progress_bar import Bar
from writeamp.errors import WriteampError
from writeamp.learn.blackbox.measurements import UNITS
from writeamp.learn.blackbox.model_input import ModelInput
from writeamp.learn.blackbox.settings import BoundSettings
from writeamp.plots import check_target, save
from writeamp.results.card import Card
from writeamp.results.numbers import four_digits, range_in_words

if TYPE_CHECKING:
    from writeamp.learn.blackbox.choosing import Verdict
    from writeamp.learn.blackbox.predictions import Predictions
    from writeamp.learn.blackbox.training import BlackBox

# Largest number of windows that are printed; the JSON document has all windows.
_MOST_ROWS = 40


def predict(
    model: Annotated[
        Path,
        typer.Argument(
            help="Trained model: a file of `blackbox train`.", metavar="MODEL", show_default=False
        ),
    ],
    question: ModelInput,
    *,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            help="Draw the predictions for each window of --trace (.png, .svg, .pdf or .html).",
            metavar="FILE",
        ),
    ] = None,
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """Predict the performance of a drive under a workload or a trace, with intervals.

    Example: writeamp blackbox predict x25m.model --workload random:bs=8k,write=0.5,qd=8
    """
    from writeamp.learn.blackbox import model_file, pictures  # noqa: PLC0415 (takes seconds)

    if plot is not None:
        if question.trace is None:
            raise WriteampError(
                "--plot draws the windows of a trace; give --trace. For the response to workloads, "
                "use `blackbox explain --plot`"
            )
        check_target(plot)
    findings.of_fio(question.fio, question.fio_run, question.space)
    with Bar("predicting"):
        trained = model_file.load(model)
        rows = question.rows(trained.features)
        predictions = trained.predict(rows)
    if plot is not None:
        save(pictures.forecast(trained, rows, predictions, str(question.trace)), plot)
    note_extrapolation(trained, rows)
    about = {"model": str(model), "drive": trained.drive, "level": trained.level, **question.what}
    trace = question.trace
    places = pl.DataFrame() if trace is None else rows.select("window", "start_s", "requests")

    def document() -> dict[str, Any]:
        if trace is None:
            return about | predictions.record(0)
        windows = [place | predictions.record(i) for i, place in enumerate(places.to_dicts())]
        return about | {"windows": windows}

    def card() -> Card:
        if trace is None:
            return replace(predictions.card(), title=f"{model}: {question.name}")
        return _card_of_windows(f"{model}: {trace}", rows, predictions)

    options.show(
        document,
        card,
        frame=lambda: pl.concat([places, predictions.to_frame()], how="horizontal"),
        figure=predictions.figure,
        json=json,
        csv=csv,
        print_tables=partial(options.print_card, most_rows=_MOST_ROWS),
    )


def note_extrapolation(trained: BlackBox, rows: pl.DataFrame) -> None:
    """Print notes on characteristics outside the training range, and on sizes that cross pages."""
    for name in trained.beyond(rows):
        trained_range = trained.ranges[name]
        options.note(
            f"{name} is outside the training range, {trained_range.low:g} to "
            f"{trained_range.high:g}; predictions may be far off"
        )
    for name in trained.unlike_pages(rows):
        options.note(
            f"{name} has requests that cross pages of 4 KiB, which no training row has; "
            "predictions may be far off"
        )


def _card_of_windows(
    title: str, windows: pl.DataFrame, predictions: Mapping[str, Predictions]
) -> Card:
    columns = [">start, s", ">requests"]
    for target, values in predictions.items():
        columns += [_with_unit(target), f">{values.level:.0%} interval"]
    rows = [
        [
            f"{start:g}",
            str(requests),
            *(cell for values in predictions.values() for cell in _shown(values, row)),
        ]
        for row, (start, requests) in enumerate(windows.select("start_s", "requests").iter_rows())
    ]
    return Card(title, rows, columns)


def _shown(predictions: Predictions, row: int) -> tuple[str, str]:
    return four_digits(predictions.value[row]), range_in_words(
        predictions.low[row], predictions.high[row]
    )


def choose(
    models: Annotated[
        list[Path],
        typer.Argument(
            help="Trained models (files of `blackbox train`), one per drive.",
            metavar="MODEL…",
            show_default=False,
        ),
    ],
    question: ModelInput,
    settings: BoundSettings,
    *,
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """Rank drives by whether they meet bounds on latency, bandwidth, throughput and WA.

    Example: writeamp blackbox choose a.model b.model --workload random:bs=4k,qd=8 --max-latency 2ms
    """
    from writeamp.learn.blackbox import choosing, model_file  # noqa: PLC0415 (takes seconds)

    bounds = settings.of_targets
    findings.of_fio(question.fio, question.fio_run, question.space)
    with Bar("predicting"):
        trained = {str(path): model_file.load(path) for path in models}
        rows = {
            features: question.rows(features)
            for features in {model.features for model in trained.values()}
        }
        verdicts = choosing.choose(trained, rows, bounds, settings.share)
    document = {**question.what, "bounds": bounds, "share": settings.share}
    choices = [verdict.to_dict() for verdict in verdicts]
    options.show(
        lambda: document | {"choices": choices},
        lambda: _card_of_choices(question.name, verdicts, bounds),
        frame=verdicts.to_frame,
        figure=verdicts.figure,
        json=json,
        csv=csv,
    )


def _card_of_choices(title: str, verdicts: Sequence[Verdict], bounds: dict[str, float]) -> Card:
    columns = [
        "model",
        "drive",
        "meets",
        ">headroom to bound",
        *map(_with_unit, bounds),
        ">outside training",
    ]
    rows = [
        [
            verdict.name,
            verdict.drive or "–",
            verdict.meets,
            "–" if math.isinf(verdict.headroom) else f"× {verdict.headroom:.3g}",
            *(_with_interval(*verdict.predictions[target]) for target in bounds),
            f"{verdict.outside:.0%}",
        ]
        for verdict in verdicts
    ]
    return Card(title, rows, columns)


def _with_interval(value: float, low: float, high: float) -> str:
    shown = four_digits(value)
    return shown if math.isnan(value) else f"{shown} ({range_in_words(low, high)})"


def _with_unit(target: str) -> str:
    """Return a target's name with its unit, as the heading of a column of numbers."""
    return f">{target}, {UNITS[target]}" if UNITS[target] else f">{target}"
