"""`writeamp lifetime`: years until a drive's rated life is used."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from writeamp.cli import options
from writeamp.cli.progress_bar import Bar
from writeamp.cli.setting_options import with_settings
from writeamp.drives.cli.printing import print_result
from writeamp.drives.lifetime.settings import DriveLifetimeSettings


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("lifetime")(with_settings(lifetime))


def lifetime(
    snapshots: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Snapshots of a real drive, in any order; or give --db, or a load.",
            show_default=False,
            metavar="[SNAP]...",
        ),
    ] = None,
    *,
    asked: DriveLifetimeSettings,
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """Tell how many years a drive lives: a real one by its snapshots, or a profile under a load.

    A TBW rating already holds the WA of its test, and is never divided by WA here.

    Example: writeamp lifetime --trace trace.parquet --device tlc-datacenter --daily-writes 200GB
    """
    from writeamp.drives.lifetime.functions import lifetime as lifetime_of  # noqa: PLC0415 (slow)

    is_of_load = asked.trace is not None or asked.workload is not None
    with Bar("wearing out" if is_of_load else "reading", _worn_out) as bar:
        found = lifetime_of(snapshots or (), **vars(asked), progress=bar.update)
    for sentence in found.warnings:
        options.warn(sentence)
    print_result(found, json=json, csv=csv)


def _worn_out(done: int, whole: int) -> str:
    return f"{done} of {whole} drives"
