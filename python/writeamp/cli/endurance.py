"""`writeamp endurance`: drives until they are worn out."""

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
    """Add the verb."""
    register_experiment(app, with_scheduler(with_settings(endurance)))


def endurance(
    experiment: Experiment,
    life: LifeSettings,
    *,
    curve: Annotated[
        bool,
        typer.Option(
            "--curve",
            help="Add fairness and endurance for each W up to --w-max to the JSON document; with "
            "--csv, print these.",
        ),
    ] = False,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            help="Draw PE fairness and endurance against W (.png, .svg, .pdf or .html).",
            metavar="FILE",
        ),
    ] = None,
    plot_erases: Annotated[
        Path | None,
        typer.Option(
            "--plot-erases", help="Draw how often the blocks were erased.", metavar="FILE"
        ),
    ] = None,
    keep: options.Keep = None,
    runner: Runner | None,
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """Run drives until they are worn out: PE fairness, endurance, TBW, DWPD, years of life.

    A life ends with the first block erased --w-max times, or as many as (its LUN) has spare ones.

    --capacity alone has a smaller drive simulated in place of the real one; with a size, the drive
    of that size stands for it.

    Example: writeamp endurance --blocks 500 --w-max 300 --daily-writes 1TB --capacity 2TB
    """
    for target in (plot, plot_erases):
        if target is not None:
            check_target(target)
    if curve and not (json or csv):
        raise WriteampError("--curve adds to the JSON document; give --json too, or --csv")
    daily_bytes, warranty_years = life.daily_writes, life.warranty_years
    capacity_bytes = experiment.device.capacity

    def check_drive(device: Device) -> None:
        if daily_bytes is not None:
            drive_writes_a_day(device, daily_bytes, capacity_bytes)

    from writeamp.studies.endurance.lifetime import run_lifetime  # noqa: PLC0415 (slow)

    with Bar("wearing out", _percent) as bar:
        found = options.whole_or_part(
            lambda: run_lifetime(experiment, bar.update, check_drive, runner, keep)
        )
    for sentence in found.notes:
        options.note(sentence)

    def document() -> dict[str, Any]:
        return found.to_dict(
            curve=curve and json, daily_bytes=daily_bytes, warranty_years=warranty_years
        )

    printed = options.printed_json(document, json=json)
    if csv:
        options.print_csv(found.curve if curve else frame_of([document()]))
    elif not printed:
        options.print_card(found.card(daily_bytes, warranty_years))
    if found.unfinished:
        raise boundary.PartlyDone(f"{found.finished}; no picture was drawn")
    if plot is not None:
        found.plot(plot)
    if plot_erases is not None:
        found.plot_erases(plot_erases)


def _percent(reached: int, expected: int) -> str:
    return f"{reached / expected:.0%} of the wear"
