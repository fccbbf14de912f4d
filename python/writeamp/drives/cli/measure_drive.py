"""`writeamp measure save` and `run`: a real drive read now, and around a command."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from writeamp.cli import boundary, findings, options
from writeamp.drives.cli.printing import warn_of_doubts
from writeamp.drives.devices.settings import SerialSettings, SettleSettings

_STDERR = 2


def save(
    device: Annotated[
        str,
        typer.Argument(
            help="Drive to read, such as /dev/nvme0 or /dev/sda; nothing is written to it.",
            show_default=False,
        ),
    ],
    asked: SerialSettings,
    *,
    out: Annotated[
        str,  # of which a path would lose the slash at its end
        typer.Option(
            "--out",
            help="Snapshot to write: a file, or a folder with a file a log (an empty one, or a "
            "name that ends with a slash).",
            metavar="SNAP",
            show_default=False,
        ),
    ],
    json: options.Json = False,
) -> None:
    """Save a snapshot of a drive's counters, by nvme-cli or smartctl.

    The host's counter is read before the flash's and after it. Needs root, as these tools do.

    Example: writeamp measure save /dev/nvme0 --out monday.json
    """
    from writeamp.drives.measure.on_drives import save as saved  # noqa: PLC0415 (slow)

    found = saved(device, out, serials=asked.serials)
    for sentence in found.facts.notes:
        options.note(sentence)
    warn_of_doubts(found)
    if not options.printed_json(lambda: {"file": out, **found.to_dict()}, json=json):
        card = found.card()
        options.print_card(replace(card, rows=[("saved", out), *card.rows]))


def run(
    device: Annotated[
        str,
        typer.Argument(
            help="Drive to read, such as /dev/nvme0; or files that another program keeps up to "
            "date, such as the folder of `serve --counters`.",
            show_default=False,
        ),
    ],
    command: Annotated[
        list[str],
        typer.Argument(
            help="Behind --: a program and its arguments, or one text for the shell.",
            show_default=False,
            metavar="-- CMD",
        ),
    ],
    asked: SettleSettings,
    *,
    keep: Annotated[
        Path | None,
        typer.Option(
            "--keep",
            help="Folder to keep both snapshots in, each as soon as it is taken.",
            metavar="DIR",
            show_default=False,
        ),
    ] = None,
    json: options.Json = False,
    csv: options.Csv = False,
) -> None:
    """Run a command, and tell its write amplification (WA) by the drive's counters.

    The drive is read before, and again when its collection has settled. Exits with the status of
    the command. Ctrl-C ends the command, or the wait; the drive is read once more. With --json the
    command's output goes to stderr.

    Example: writeamp measure run /dev/nvme0 -- fio job.fio
    """
    from writeamp.drives.devices.run import command_of  # noqa: PLC0415
    from writeamp.drives.measure.on_drives import run as run_on  # noqa: PLC0415 (slow)

    wrong = findings.of_command(command_of(command))
    found = run_on(
        device,
        command,
        **vars(asked),
        keep=keep,
        stdout=_STDERR if json or csv else None,
        note=options.note,
    )
    warn_of_doubts(found.answer)
    printed = options.printed_json(
        lambda: findings.with_findings(found.to_dict(), wrong), json=json
    )
    if csv:
        options.print_csv(found.to_frame())
    elif not printed:
        options.print_card(found.card())
    if found.stopped_by is not None:
        boundary.end_as_interrupted(found.stopped_by, "the figures are of what was written by then")
    if found.status:
        boundary.say(f"the command failed with status {found.status}")
        raise typer.Exit(found.status)
