"""`writeamp blame`: flash writes of a trace by process, file, folder, device or range."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from writeamp.cli import options
from writeamp.cli.experiment_options import register_experiment
from writeamp.cli.progress_bar import Bar
from writeamp.cli.setting_options import with_settings
from writeamp.plots import check_target
from writeamp.settings.experiment import Experiment
from writeamp.studies.blame.settings import LEFT_OUT, BlameSettings


def register(app: typer.Typer) -> None:
    """Add the subcommand to the command line."""
    register_experiment(app, with_settings(blame), verb="simulate", without=LEFT_OUT, of_trace=True)


def blame(
    experiment: Experiment,
    *,
    settings: BlameSettings,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            help="Draw a bar of host and flash bytes for each tag (.png, .svg, .pdf or .html).",
            metavar="FILE",
        ),
    ] = None,
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """Divide the flash writes of a trace among processes, files, folders, devices or addresses.

    The table has a row for each tag with at least 0.5% of the written bytes: its host and flash
    bytes, and WA of the drive without it, and with a stream of its own for it.

    Example: writeamp blame examples/postgres-tpcb.parquet --by range:16 --op 0.10

    Example: writeamp blame t.parquet --by file --device tlc-client
    """
    if plot is not None:
        check_target(plot)
    from writeamp.studies.blame.study import BlameStudy  # noqa: PLC0415 (slow)

    with Bar("reading"):
        study = BlameStudy.of(experiment, settings.by)
    options.note(study.in_words)
    with Bar("running", lambda done, runs: f"{done} of {runs} runs") as bar:
        result = study.run(bar.update)
    options.show_result(result, json=json, csv=csv, plot=plot)
