"""`writeamp measure fleet`: write amplification of many drives by their counters."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from writeamp.cli import options
from writeamp.cli.progress_bar import Bar
from writeamp.drives.cli.printing import print_result
from writeamp.drives.fleets.settings import DriveFleetSettings
from writeamp.plots import check_target, save
from writeamp.runners import runner_of

if TYPE_CHECKING:
    from writeamp.drives.fleets.result import Fleet


def fleet(
    paths: Annotated[
        list[Path],
        typer.Argument(
            help="Folders of snapshots, files, or histories (`measure watch --db`). Every file is "
            "a snapshot; a folder that `measure save` or `serve --counters` made is one.",
            show_default=False,
            metavar="PATH",
        ),
    ],
    asked: DriveFleetSettings,
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
    """Summarize the write amplification (WA) of many real drives by their counters, by model.

    Drives that stand out are named. `writeamp volumes` simulates the volumes of a trace instead.

    Example: writeamp measure fleet snapshots/ --plot fleet.html
    """
    if plot is not None:
        check_target(plot)
    from writeamp.drives.fleets.result import fleet as fleet_of  # noqa: PLC0415 (slow)

    workers = asked.workers
    with (
        Bar("reading", lambda done, whole: f"{done:,} of {whole:,}") as bar,
        nullcontext() if workers is None else runner_of(workers=workers) as runner,
    ):
        found = fleet_of(paths, runner=runner, progress=bar.update)
    if plot is not None:
        save(found.figure(), plot)
    print_result(found, lambda: _show(found), json=json, csv=csv)


def _show(found: Fleet) -> None:
    options.print_card(found.card())
    for sentence in found.outliers.values():
        options.warn(sentence)
    if found.skipped:
        options.note(f"{len(found.skipped):,} files are no snapshots; --json says why")
