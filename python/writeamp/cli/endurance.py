"""`writeamp endurance`: simulation of drives until they are worn out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from writeamp.cli import boundary, options
from writeamp.cli.experiment_options import register_experiment
from writeamp.cli.progress_bar import Bar
from writeamp.cli.runner_options import with_scheduler
from writeamp.cli.setting_options import with_settings
from writeamp.devices.device import Device
from writeamp.errors import WriteampError
from writeamp.plots import check_target
from writeamp.results.frames import frame_of
from writeamp.runners import Runner
from writeamp.runs.daily_writes import LifeSettings, drive_writes_a_day
from writeamp.settings.experiment import Experiment


def register(app: typer.Typer) -> None:
    """Add the subcommand to the command line."""
    register_experiment(app, with_scheduler(with_settings(endurance)))


def endurance(
    experiment: Experiment,
    life: LifeSettings,
    *,
    curve: Annotated[
        bool,
        typer.Option(
            "--curve",
            help="Add PE fairness and endurance for each W (erases that a block endures) up to "
            "--w-max to the JSON document; with --csv, print them as the table.",
        ),
    ] = False,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            help="Draw PE fairness and endurance by W, the erases that a block endures (.png, "
            ".svg, .pdf or .html).",
            metavar="FILE",
        ),
    ] = None,
    plot_erases: Annotated[
        Path | None,
        typer.Option(
            "--plot-erases",
            help="Draw a histogram of the blocks' erases at the end of life (.png, .svg, .pdf or "
            ".html).",
            metavar="FILE",
        ),
    ] = None,
    keep: options.Keep = None,
    runner: Runner | None,
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """Simulate drives until they are worn out: PE fairness, endurance, TBW, DWPD, years.

    A drive's life ends with the first block that reaches --w-max erases. With spare blocks, it ends
    when the drive (or one of its LUNs) has used all of them.

    With --capacity, a smaller drive is simulated, and the result is for the real drive. Give a
    size too, such as --blocks, to choose the size of the simulated drive.

    Example: writeamp endurance --blocks 500 --w-max 300 --daily-writes 1TB --capacity 2TB
    """
    for target in (plot, plot_erases):
        if target is not None:
            check_target(target)
    if curve and not (json or csv):
        raise WriteampError("--curve extends the output of --json or --csv; give one of these too")
    daily_bytes, warranty_years = life.daily_writes, life.warranty_years
    capacity_bytes = experiment.device.capacity

    def check_drive(device: Device) -> None:
        if daily_bytes is not None:
            drive_writes_a_day(device, daily_bytes, capacity_bytes)

    from writeamp.studies.endurance.lifetime import run_lifetime  # noqa: PLC0415 (slow)

    with Bar("wearing out", _percent) as bar:
        result = options.finished_part(
            lambda: run_lifetime(experiment, bar.update, check_drive, runner, keep, is_rated=True)
        )
    for sentence in result.notes:
        options.note(sentence)

    def document() -> dict[str, Any]:
        return result.to_dict(
            curve=curve and json, daily_bytes=daily_bytes, warranty_years=warranty_years
        )

    options.show(
        document,
        lambda: result.card(daily_bytes, warranty_years),
        frame=lambda: result.curve if curve else frame_of([document()]),
        figure=result.figure,
        json=json,
        csv=csv,
    )
    if result.unfinished:
        raise boundary.PartlyDone(f"{result.finished}; no picture was drawn")
    if plot is not None:
        result.plot(plot)
    if plot_erases is not None:
        result.plot_erases(plot_erases)


def _percent(reached: int, expected: int) -> str:
    return f"{reached / expected:.0%} of the wear"
