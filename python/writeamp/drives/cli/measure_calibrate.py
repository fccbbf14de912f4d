"""`writeamp measure calibrate`: units of a drive's counters, learned by writing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from writeamp.cli import options
from writeamp.cli.progress_bar import Bar
from writeamp.drives.cli.printing import print_result
from writeamp.drives.devices.settings import CalibrationSettings, SettleSettings
from writeamp.errors import WriteampError

if TYPE_CHECKING:
    from writeamp.drives.devices.calibration import Calibration

_FILES = 2


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
    if len(targets) == _FILES:
        found = _of_files(targets[0], targets[1], asked)
    elif len(targets) == 1:
        found = _by_writing(targets[0], asked, waits)
    else:
        raise WriteampError(
            f"{len(targets)} targets are given; one is a device or a file to make, two are "
            "snapshots before and after --written bytes"
        )
    print_result(found, lambda: _show(found), json=json, csv=csv)


def _of_files(before: str, after: str, asked: CalibrationSettings) -> Calibration:
    from writeamp.drives.counters.difference import interval_between  # noqa: PLC0415
    from writeamp.drives.counters.reading import read_snapshot  # noqa: PLC0415
    from writeamp.drives.devices.calibration import calibration_of  # noqa: PLC0415 (slow)

    if asked.written is None:
        raise WriteampError("two snapshots need --written, the bytes written between them")
    first, last = (read_snapshot(Path(one)).facts for one in (before, after))
    refusal = interval_between(first, last).refusal
    if refusal:
        raise WriteampError(f"the snapshots cannot be compared: {refusal}")
    return calibration_of(first, last, round(asked.written), is_exact=False)


def _by_writing(target: str, asked: CalibrationSettings, waits: SettleSettings) -> Calibration:
    from writeamp.drives.devices.calibration import calibrate as calibrated  # noqa: PLC0415 (slow)

    with Bar("writing", lambda done, whole: f"{done / max(whole, 1):.0%}") as bar:
        return calibrated(
            target,
            size_bytes=round(asked.amount),
            folder=asked.folder,
            settle_s=waits.settle,
            wait_s=waits.wait,
            progress=bar.update,
        )


def _show(found: Calibration) -> None:
    card = found.card()
    options.print_card(card)
    for sentence in card.warnings:
        options.warn(sentence)
