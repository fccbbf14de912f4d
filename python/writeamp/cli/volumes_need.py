"""`writeamp volumes need`: spare space, wear and the costliest volumes of a fleet."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from writeamp.cli import options
from writeamp.cli.progress_bar import Bar
from writeamp.plots import check_target
from writeamp.runners import Runner
from writeamp.volumes.settings import NeedSettings, SelectionSettings


def need(
    fleet: Annotated[
        Path,
        typer.Argument(
            help="The folder that was --out of `volumes split`.", metavar="DIR", show_default=False
        ),
    ],
    asked: NeedSettings,
    selection: SelectionSettings,
    settings: dict[str, Any],
    *,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            help="Draw the overall WA over op to a .png, .svg, .pdf or .html file.",
            metavar="FILE",
        ),
    ] = None,
    out: options.Out = None,
    runner: Runner,
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """Tell what a fleet needs: op for an overall WA, wear a day, and the volumes that cost most.

    Example: writeamp volumes need fleet/ --target-wa 2 --manager sepgc --out savings/
    """
    if plot is not None:
        check_target(plot)
    from writeamp.volumes.fleet import Fleet  # noqa: PLC0415 (slow)
    from writeamp.volumes.needs import need as needed  # noqa: PLC0415 (slow)

    with Bar("searching", lambda done, runs: f"{done:,} of {runs:,} runs at this op") as bar:
        found = needed(
            Fleet.open(fleet),
            asked.manager,
            asked.target_wa,
            victims=asked.victims,
            out=out,
            selection=selection,
            runner=runner,
            progress=bar.update,
            **settings,
        )
    options.tell(found, lambda: options.print_card(found.card()), json=json, csv=csv, plot=plot)
