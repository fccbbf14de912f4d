"""`writeamp lifetime`: years until a drive's rated life is used."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from writeamp.cli import options
from writeamp.cli.progress_bar import Bar
from writeamp.cli.setting_options import with_settings
from writeamp.drives.cli.printing import print_result
from writeamp.drives.lifetime.settings import DriveLifetimeSettings
from writeamp.errors import WriteampError

if TYPE_CHECKING:
    from writeamp.drives.lifetime.result import DriveLifetime


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
    found = _of_load(asked) if asked.trace or asked.workload else _of_drive(snapshots or [], asked)
    for sentence in found.warnings:
        options.warn(sentence)
    print_result(found, json=json, csv=csv)


def _of_load(asked: DriveLifetimeSettings) -> DriveLifetime:
    from writeamp.drives.lifetime.under_load import lifetime_under_load  # noqa: PLC0415 (slow)

    if asked.device is None or asked.daily_writes is None:
        raise WriteampError("a life under a load needs --device and --daily-writes")
    with Bar("wearing out", lambda done, whole: f"{done} of {whole} drives") as bar:
        return lifetime_under_load(
            asked.device,
            daily_bytes=asked.daily_writes,
            trace=None if asked.trace is None else str(asked.trace),
            workload=asked.workload,
            cycles=asked.cycles,
            seed=asked.seed,
            progress=bar.update,
        )


def _of_drive(paths: list[Path], asked: DriveLifetimeSettings) -> DriveLifetime:
    from writeamp.drives.counters.reading import read_snapshots  # noqa: PLC0415
    from writeamp.drives.counters.snapshot import by_drive, chosen_drive  # noqa: PLC0415
    from writeamp.drives.histories.result import history  # noqa: PLC0415
    from writeamp.drives.lifetime.of_history import lifetime_of_history  # noqa: PLC0415 (slow)

    if asked.db is None:
        if not paths:
            raise WriteampError(
                "give snapshots of a drive, its history (--db), or a load (--trace or --workload "
                "with --device and --daily-writes)"
            )
        with Bar("reading"):
            read = [one for path in paths for one in read_snapshots(path, asked.model)]
            return lifetime_of_history(chosen_drive(by_drive(read), asked.drive))
    with Bar("reading"):
        kept = {
            f"{one.life.facts.model or ''} {one.drive}".strip(): one.snapshots
            for one in history(asked.db).drives
        }
        return lifetime_of_history(chosen_drive(kept, asked.drive))
