"""`writeamp lifetime`: years until a drive reaches its rated endurance."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from writeamp.cli import findings, options
from writeamp.cli.progress_bar import Bar
from writeamp.cli.setting_options import with_settings
from writeamp.drives.cli.printing import print_result
from writeamp.drives.lifetime.settings import DriveLifetimeSettings

if TYPE_CHECKING:
    from writeamp.drives.lifetime.of_drives import DriveLifetimes
    from writeamp.drives.lifetime.result import DriveLifetime


# Most warnings that are printed.
_MOST_WARNINGS = 10


def register(app: typer.Typer) -> None:
    """Add the command `lifetime` to the program."""
    app.command("lifetime")(with_settings(lifetime))


def lifetime(
    snapshots: Annotated[
        list[Path] | None,
        typer.Argument(
            help=(
                "Snapshots of real drives, in any order, or drives to read now, such as "
                "/dev/nvme0. Alternatives: --db, or a load (--trace or --workload)."
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
    result = _lifetimes(snapshots or (), settings)
    for sentence in result.warnings[:_MOST_WARNINGS]:
        options.warn(sentence)
    if len(result.warnings) > _MOST_WARNINGS:
        options.note(f"{len(result.warnings) - _MOST_WARNINGS} more warnings are in --json")
    print_result(result, json=json, csv=csv)


def _lifetimes(
    snapshots: Sequence[Path], settings: DriveLifetimeSettings
) -> DriveLifetime | DriveLifetimes:
    """Return the lifetime of one drive, or of all if there are several and none is selected."""
    from writeamp.drives.counters.snapshot import chosen_drive  # noqa: PLC0415
    from writeamp.drives.lifetime.functions import drives_of  # noqa: PLC0415 (slow)
    from writeamp.drives.lifetime.functions import lifetime as lifetime_of  # noqa: PLC0415
    from writeamp.drives.lifetime.of_drives import lifetimes_of  # noqa: PLC0415
    from writeamp.drives.lifetime.of_history import lifetime_of_history  # noqa: PLC0415
    from writeamp.drives.lifetime.under_load import capacity_of  # noqa: PLC0415

    if settings.has_load:
        capacity = None if settings.device is None else round(capacity_of(settings.device))
        findings.of_fio(settings.fio, settings.fio_run, capacity)
        with Bar("wearing out", _of_drives, has_slow_steps=True) as bar:
            return lifetime_of(snapshots, **vars(settings), progress=bar.update)
    with Bar("reading", lambda done, whole: f"{done:,} of {whole:,} readings") as bar:
        drives = drives_of(snapshots, settings, bar.update)
    if settings.drive is None and len(drives) > 1:
        with Bar("estimating", _of_drives) as bar:
            return lifetimes_of(drives, bar.update, settings.rated_tbw)
    with Bar("estimating"):
        chosen = chosen_drive(drives, settings.drive)
        return lifetime_of_history(chosen, settings.rated_tbw)


def _of_drives(done: int, whole: int) -> str:
    return f"{done:,} of {whole:,} drives"
