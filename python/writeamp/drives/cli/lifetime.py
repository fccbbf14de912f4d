"""`writeamp lifetime`: years until a drive reaches its rated endurance."""

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
    """Add the command `lifetime` to the program."""
    app.command("lifetime")(with_settings(lifetime))


def lifetime(
    snapshots: Annotated[
        list[Path] | None,
        typer.Argument(
            help=(
                "Snapshots of one real drive, in any order. Alternatives: --db, or a load "
                "(--trace or --workload)."
            ),
            show_default=False,
            metavar="[SNAP]...",
        ),
    ] = None,
    *,
    settings: DriveLifetimeSettings,
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """Estimate the years until a drive is worn out, from its counters or from a load.

    Give snapshots of a real drive, or a device profile and a load (--trace or --workload). A TBW
    rating (total bytes that the host may write) already includes the WA of the vendor's test
    workload, so TBW is not divided by WA.

    Example: writeamp lifetime --trace trace.parquet --device tlc-datacenter --daily-writes 200GB
    """
    from writeamp.drives.lifetime.functions import lifetime as lifetime_of  # noqa: PLC0415 (slow)

    is_of_load = settings.trace is not None or settings.workload is not None
    with Bar("wearing out" if is_of_load else "reading", _worn_out) as bar:
        result = lifetime_of(snapshots or (), **vars(settings), progress=bar.update)
    for sentence in result.warnings:
        options.warn(sentence)
    print_result(result, json=json, csv=csv)


def _worn_out(done: int, whole: int) -> str:
    return f"{done} of {whole} drives"
