"""`writeamp measure fleet`: write amplification of many drives by their counters."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from writeamp.cli import options
from writeamp.cli.options import stdout
from writeamp.cli.progress_bar import Bar
from writeamp.drives.cli.counters_table import print_result, shown_wa
from writeamp.drives.fleets.settings import DriveFleetSettings
from writeamp.plots import check_target, save

if TYPE_CHECKING:
    from writeamp.drives.fleets.result import Fleet

# More rows are for --csv and --json.
_MOST_ROWS = 30


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
    """Tell the write amplification (WA) of many drives, by model, and which drives stand out.

    Example: writeamp measure fleet snapshots/ --plot fleet.html
    """
    if plot is not None:
        check_target(plot)
    from writeamp.drives.fleets.result import fleet as fleet_of  # noqa: PLC0415 (slow)

    with Bar("reading", lambda done, whole: f"{done:,} of {whole:,}") as bar:
        found = fleet_of(paths, workers=asked.workers, progress=bar.update)
    if plot is not None:
        save(found.figure(), plot)
    print_result(found, lambda: _show(found), json=json, csv=csv)


def _show(found: Fleet) -> None:
    stdout.print(_models(found))
    stdout.print(_drives(found))
    for sentence in found.outliers.values():
        options.warn(sentence)
    if found.skipped:
        options.note(f"{len(found.skipped):,} files are no snapshots; --json says why")


def _models(found: Fleet) -> Table:
    columns = ("model", "drives", "with WA", "median", "quartiles", "range")
    table = options.bare_table(columns, ())
    for one in found.models:
        has = one.wa is not None
        table.add_row(
            one.model or "not said",
            f"{one.drives:,}",
            f"{one.with_wa:,}",
            f"{one.wa:.4g}" if has else "",
            f"{one.wa_low:.4g} to {one.wa_high:.4g}" if has else "",
            f"{one.wa_min:.4g} to {one.wa_max:.4g}" if has else "",
        )
    return table


def _drives(found: Fleet) -> Table:
    columns = ("drive, those that wear out first in front", "model", "WA", "used", "years left")
    table = options.bare_table(columns, ())
    for answer, row in zip(found.drives[:_MOST_ROWS], found._records(), strict=False):
        low, high = row["years_left_low"], row["years_left_high"]
        used = row["percentage_used"]
        table.add_row(
            row["file"],
            row["model"] or "",
            "" if answer.kind == "none" else shown_wa(answer),
            "" if used is None else f"{used:g}%",
            "" if low is None else f"{low:.3g} to {high:.3g}",
        )
    if len(found.drives) > _MOST_ROWS:
        table.add_row(f"… and {len(found.drives) - _MOST_ROWS:,} more (--csv)")
    return table
