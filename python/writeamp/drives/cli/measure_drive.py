"""`writeamp measure save` and `run`: a snapshot of a drive, and snapshots around a command."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from writeamp.cli import boundary, findings, options
from writeamp.cli.progress_bar import Bar
from writeamp.drives.cli.printing import print_result, print_warnings
from writeamp.drives.devices.settings import SerialSettings, SettleSettings

_STDERR = 2


def save(
    device: Annotated[
        str,
        typer.Argument(
            help="Drive to read, such as /dev/nvme0 or /dev/sda. It is not written.",
            show_default=False,
        ),
    ],
    settings: SerialSettings,
    *,
    out: Annotated[
        str,  # a Path would drop the slash at the end
        typer.Option(
            "--out",
            help=(
                "Where to save the snapshot: a file, or a folder with one file for each log (an "
                "existing empty folder, or a name that ends in a slash)."
            ),
            metavar="SNAP",
            show_default=False,
        ),
    ],
    json: options.Json = False,
) -> None:
    """Save a snapshot of a drive's counters with nvme-cli or smartctl.

    The host counter is read before and after the flash counter. nvme-cli and smartctl need root.

    Example: writeamp measure save /dev/nvme0 --out monday.json
    """
    from writeamp.drives.measure.on_drives import save as saved  # noqa: PLC0415 (slow)

    snapshot = saved(device, out, serials=settings.serials)
    for sentence in snapshot.facts.notes:
        options.note(sentence)
    print_warnings(snapshot)
    card = snapshot.card()
    options.show(
        lambda: {"file": out, **snapshot.to_dict()},
        lambda: replace(card, rows=[("saved", out), *card.rows]),
        json=json,
    )


def read_all(*, json: options.Json = False, csv: options.Csv = False) -> None:
    """Read the counters of every drive of this machine: WA, wear, and years left.

    nvme-cli and smartctl read the drives and need root. Drives are not written to.

    Example: sudo writeamp measure all --report drives.html
    """
    from writeamp.drives.measure.by_machine import this_machine  # noqa: PLC0415 (slow)

    with Bar("reading", lambda done, whole: f"{done:,} of {whole:,} drives") as bar:
        drives = this_machine(progress=bar.update)
    for sentence in drives.warnings:
        options.warn(sentence)
    print_result(drives, json=json, csv=csv)


def run(
    device: Annotated[
        str,
        typer.Argument(
            help="Drive to read, such as /dev/nvme0; or a file or folder that another program "
            "updates, such as the folder of `serve --counters`.",
            show_default=False,
        ),
    ],
    command: Annotated[
        list[str],
        typer.Argument(
            help="After --: a program and its arguments, or one text for the shell.",
            show_default=False,
            metavar="-- CMD",
        ),
    ],
    settings: SettleSettings,
    *,
    keep: Annotated[
        Path | None,
        typer.Option(
            "--keep",
            help=(
                "Folder in which to save the snapshots from before and after the command, each as "
                "soon as it is taken."
            ),
            metavar="DIR",
            show_default=False,
        ),
    ] = None,
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """Run a command, and measure its write amplification (WA) by the drive's counters.

    The counters are read before the command, and after it when garbage collection has settled.
    Ctrl-C ends the command or the wait; then the counters are read once more.

    The exit status is that of the command. With --json, the output of the command goes to stderr.

    Example: writeamp measure run /dev/nvme0 -- fio job.fio
    """
    from writeamp.drives.devices.run import command_of  # noqa: PLC0415
    from writeamp.drives.measure.on_drives import run as run_on  # noqa: PLC0415 (slow)

    findings.of_command(command_of(command))
    result = run_on(
        device,
        command,
        **vars(settings),
        keep=keep,
        stdout=_STDERR if json or csv else None,
        note=options.note,
    )
    print_warnings(result.answer)
    options.show(
        result.to_dict,
        result.card,
        frame=result.to_frame,
        json=json,
        csv=csv,
    )
    if result.stopped_by is not None:
        boundary.end_as_interrupted(
            result.stopped_by, "the figures include the writes until the interruption"
        )
    if result.status:
        boundary.say(f"the command failed with status {result.status}")
        raise typer.Exit(result.status)
