"""`writeamp measure calibrate`: units of a drive's counters, learned by writing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from writeamp.cli import options
from writeamp.cli.progress_bar import Bar
from writeamp.drives.cli.printing import print_result
from writeamp.drives.devices.settings import CalibrationSettings, SettleSettings
from writeamp.errors import WriteampError

if TYPE_CHECKING:
    from writeamp.drives.devices.calibration import Calibration

_MOST_TARGETS = 2


def calibrate(
    targets: Annotated[
        list[str],
        typer.Argument(
            help="A drive's device, or the file to make on it; or two snapshots of it, before and "
            "after --written bytes.",
            show_default=False,
            metavar="DEVICE|FILE",
        ),
    ],
    asked: CalibrationSettings,
    waits: SettleSettings,
    *,
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """Learn the units of a drive's counters by writing a known amount to a file.

    The file is made, synced and removed; the device itself is never written to. A unit is given
    only where a single one fits, and only if the counter counts what the host writes.

    Example: writeamp measure calibrate /dev/sda --in /home --write 20GiB
    """
    if len(targets) > _MOST_TARGETS:
        raise WriteampError(
            f"{len(targets)} targets are given; one is a device or a file to make, two are "
            "snapshots before and after --written bytes"
        )
    from writeamp.drives.measure.on_drives import calibrate as calibrated  # noqa: PLC0415 (slow)

    with Bar("writing", lambda done, whole: f"{done / max(whole, 1):.0%}") as bar:
        found = calibrated(
            *targets,
            write=asked.amount,
            folder=asked.folder,
            written=asked.written,
            **vars(waits),
            progress=bar.update,
        )
    print_result(found, lambda: _show(found), json=json, csv=csv)


def _show(found: Calibration) -> None:
    card = found.card()
    options.print_card(card)
    for sentence in card.warnings:
        options.warn(sentence)
