"""`writeamp blackbox predict`: predictions for a workload, or for windows of a trace."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import polars as pl
import typer

from writeamp.cli import options
from writeamp.cli.options import stdout
from writeamp.cli.progress_bar import Bar
from writeamp.errors import WriteampError
from writeamp.learn.blackbox.model_input import ModelInput
from writeamp.learn.cli.blackbox_display import UNITS, entry, with_unit
from writeamp.plots import check_target, save
from writeamp.results.numbers import four_digits, range_in_words

if TYPE_CHECKING:
    from writeamp.learn.blackbox.predictions import Predictions
    from writeamp.learn.blackbox.training import BlackBox

# So many windows are printed; the JSON document has all.
_MOST_ROWS = 40


def predict(
    model: Annotated[
        Path, typer.Argument(help="A trained model.", metavar="MODEL", show_default=False)
    ],
    question: ModelInput,
    *,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            help="Draw the windows of a trace (.png, .svg, .pdf or .html).",
            metavar="FILE",
        ),
    ] = None,
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """Predict a drive's performance under a workload or a trace, with intervals.

    Example: writeamp blackbox predict x25m.model --workload random:bs=8k,write=0.5,qd=8
    """
    from writeamp.learn.blackbox import model_file, pictures  # noqa: PLC0415 (takes seconds)

    if plot is not None:
        if question.trace is None:
            raise WriteampError(
                "--plot draws the windows of a --trace; `blackbox explain --plot` draws how "
                "predictions respond to a workload"
            )
        check_target(plot)
    with Bar("predicting"):
        trained = model_file.load(model)
        rows = question.rows(trained.features)
        said = trained.predict(rows)
    if plot is not None:
        save(pictures.forecast(trained, rows, said, str(question.trace)), plot)
    note_beyond(trained, rows)
    about = {"model": str(model), "drive": trained.drive, "level": trained.level, **question.what}
    trace = question.trace
    places = pl.DataFrame() if trace is None else rows.select("window", "start_s", "requests")

    def document() -> dict[str, Any]:
        if trace is None:
            return about | _row(said, 0)
        windows = [place | _row(said, i) for i, place in enumerate(places.to_dicts())]
        return about | {"windows": windows}

    if options.printed_json(document, json=json):
        return
    if csv:
        options.print_csv(pl.concat([places, said.to_frame()], how="horizontal"))
    elif trace is None:
        _print_workload(f"{model}: {question.workload}", said, trained.level)
    else:
        _print_windows(f"{model}: {trace}", rows, said)


def note_beyond(trained: BlackBox, rows: pl.DataFrame) -> None:
    """Say on stderr which characteristics lie outside the range of the training rows."""
    for name in trained.beyond(rows):
        one = trained.ranges[name]
        options.note(
            f"{name} lies outside what the model was trained on, {one.low:g} to {one.high:g}"
        )
    for name in trained.unlike_pages(rows):
        options.note(
            f"{name} is of requests that lie across pages of 4 KiB, and no size in what the model "
            "was trained on does"
        )


def _row(said: Mapping[str, Predictions], row: int) -> dict[str, Any]:
    """Return the predictions of one row as JSON types."""
    found: dict[str, Any] = {
        target: entry(*(float(line[row]) for line in (one.value, one.low, one.high)))
        for target, one in said.items()
    }
    known = [target for target in said if found[target] is not None]
    return {"outside": any(bool(said[target].outside[row]) for target in known)} | found


def _print_workload(title: str, said: Mapping[str, Predictions], level: float) -> None:
    rows = [
        [target, UNITS[target], *_shown(one, 0), "yes" if one.outside[0] else "no"]
        for target, one in said.items()
        if not math.isnan(one.value[0])
    ]
    columns = ["target", "unit", ">value", f">{level:.0%} interval", "outside training"]
    stdout.print(options.table(title, columns, rows))


def _print_windows(title: str, windows: pl.DataFrame, said: Mapping[str, Predictions]) -> None:
    columns = [">start, s", ">requests"]
    for target in said:
        columns += [with_unit(target), ">interval"]
    rows = [
        [f"{start:g}", str(requests), *(cell for one in said.values() for cell in _shown(one, row))]
        for row, (start, requests) in enumerate(
            windows.select("start_s", "requests").head(_MOST_ROWS).iter_rows()
        )
    ]
    stdout.print(options.table(title, columns, rows))
    if windows.height > _MOST_ROWS:
        left = windows.height - _MOST_ROWS
        stdout.print(f"{left} more windows are in the JSON document of --json")


def _shown(one: Predictions, row: int) -> tuple[str, str]:
    return four_digits(one.value[row]), range_in_words(one.low[row], one.high[row])
