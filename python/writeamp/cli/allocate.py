"""`writeamp allocate`: division of over-provisioned space between groups of pages."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from writeamp.allocation.settings import DivisionSettings
from writeamp.cli import options
from writeamp.cli.progress_bar import Bar
from writeamp.cli.setting_options import with_settings
from writeamp.plots import check_target


def register(app: typer.Typer) -> None:
    """Add the subcommand to the command line."""
    app.command("allocate")(with_settings(allocate))


def allocate(
    settings: DivisionSettings,
    *,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            help="Draw each group's share of the space (with --explore: the excess of WA over the "
            "optimum) to this file (.png, .svg, .pdf or .html).",
            metavar="FILE",
        ),
    ] = None,
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """Divide over-provisioned space between groups of pages, and predict WA.

    Example: writeamp allocate --sizes 0.4,0.3,0.2,0.1 --frequencies 0.05,0.1,0.25,0.6 --fill 0.7

    Example: writeamp allocate --explore 20 --fill 0.7
    """
    if plot is not None:
        check_target(plot)
    from writeamp.allocation.division import allocate as divided  # noqa: PLC0415 (slow)

    with Bar("exploring", lambda done, whole: f"{done:,} of {whole:,} workloads") as bar:
        division = divided(**vars(settings), progress=bar.update)
    options.show_result(division, json=json, csv=csv, plot=plot)
