"""`writeamp measure calibrate`: units of a drive's counters, determined by writing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from writeamp.cli import options
from writeamp.cli.progress_bar import Bar
from writeamp.drives.cli.printing import print_result
from writeamp.drives.devices.settings import CalibrationSettings, SettleSettings
from writeamp.errors import WriteampError

if TYPE_CHECKING:
    pass

_MOST_TARGETS = 2


def calibrate(
    targets: Annotated[
        list[str],
        typer.Argument(
            help=(
                "Device of a drive, or a file to create on the drive; or two snapshots of the "
                "drive, from before and after --written bytes were written."
            ),
            show_default=False,
            metavar="DEVICE|FILE",
        ),
    ],
    settings: CalibrationSettings,
    waits: SettleSettings,
    *,
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """Determine the units of a drive's counters by writing a known amount to a file.

    The file is created, synced and removed; the raw device is not written. For each counter of host
    writes, the command reports the unit if exactly one known unit fits.

    Example: writeamp measure calibrate /dev/sda --in /home --write 20GiB
    """
    if len(targets) > _MOST_TARGETS:
        raise WriteampError(
            f"{len(targets)} targets are given; give one (a device, or a file to create) or two "
            "(snapshots before and after --written bytes)"
        )
    from writeamp.drives.measure.on_drives import calibrate as calibrated  # noqa: PLC0415 (slow)

    with Bar("writing", lambda done, whole: f"{done / max(whole, 1):.0%}") as bar:
        calibration = calibrated(
            *targets,
            write=settings.amount,
            folder=settings.folder,
            written=settings.written,
            **vars(waits),
            progress=bar.update,
        )
    print_result(calibration, json=json, csv=csv)
    for sentence in () if json or csv else calibration.card().warnings:
        options.warn(sentence)
