"""`writeamp measure fleet`: write amplification of many drives from their counters."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from writeamp.cli import options
from writeamp.cli.progress_bar import Bar
from writeamp.drives.cli.printing import print_result
from writeamp.drives.fleets.settings import DriveFleetSettings
from writeamp.plots import check_target, save
from writeamp.runners import runner_of


def fleet(
    paths: Annotated[
        list[Path],
        typer.Argument(
            help="Snapshots (files, or folders that `measure save` or `serve --counters` made), "
            "folders of snapshots, or histories (`measure watch --db`).",
            show_default=False,
            metavar="PATH",
        ),
    ],
    settings: DriveFleetSettings,
    *,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot", help="Draw WA by model (.png, .svg, .pdf or .html).", metavar="FILE"
        ),
    ] = None,
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """Summarize the write amplification (WA) of many real drives by model, from their counters.

    The result names drives whose WA is unusual for their model. To simulate the volumes of a trace,
    use `writeamp volumes`.

    Example: writeamp measure fleet snapshots/ --plot fleet.html
    """
    if plot is not None:
        check_target(plot)
    from writeamp.drives.fleets.result import fleet as fleet_of  # noqa: PLC0415 (slow)

    workers = settings.workers
    with (
        Bar("reading", lambda done, whole: f"{done:,} of {whole:,}") as bar,
        nullcontext() if workers is None else runner_of(workers=workers) as runner,
    ):
        summary = fleet_of(paths, rated_tbw=settings.rated_tbw, runner=runner, progress=bar.update)
    if plot is not None:
        save(summary.figure(), plot)
    print_result(summary, json=json, csv=csv)
    if summary.skipped and not (json or csv):
        skipped = len(summary.skipped)
        are = "file is not a snapshot" if skipped == 1 else "files are not snapshots"
        options.note(f"skipped: {skipped:,} {are}; --json has the reasons")
