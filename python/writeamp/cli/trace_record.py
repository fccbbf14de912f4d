"""`writeamp trace record`: block trace of this machine, with processes and files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from writeamp.cli import boundary, options
from writeamp.cli.options import stderr, stdout
from writeamp.cli.progress_bar import Bar
from writeamp.files.output import check_distinct
from writeamp.plots import check_target
from writeamp.recorder.settings import RecordSettings
from writeamp.settings.budgets import HostBudgetSettings

_STDERR = 2
_COMMAND_FAILED = 1
# Too many events were lost, or a budget of writes is broken.
_NOT_MET = 3


def record(
    device: Annotated[
        str,
        typer.Argument(
            help="Disk or partition, such as /dev/nvme0n1p2.", metavar="DEVICE", show_default=False
        ),
    ],
    command: Annotated[
        list[str] | None,
        typer.Argument(
            help="Command to run meanwhile, after --: its words, or one quoted line for the shell.",
            metavar="[-- CMD]",
            show_default=False,
        ),
    ] = None,
    *,
    settings: RecordSettings,
    budgets: HostBudgetSettings,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            help="Parquet trace to write. While recording, its parts are in the folder FILE.parts.",
            metavar="FILE",
            show_default=False,
        ),
    ],
    force: Annotated[
        bool, typer.Option("--force", help="Replace FILE, and the parts of a killed recording.")
    ] = False,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            help="Draw the written bytes by process and file (.png, .svg, .pdf or .html).",
            metavar="FILE",
        ),
    ] = None,
    json: options.Json = False,
) -> None:
    """Record the block requests of this machine, with their processes and files (Linux, root).

    The recording ends with CMD, after --for, or at Ctrl-C, which saves the trace. The file systems
    on DEVICE are synced at its start and end. Nothing else is written, unless FILE is on DEVICE.

    The exit status is 1 if CMD failed, and 3 if more than 0.1% of the events were lost or a budget
    of writes is broken. With --json, the output of CMD goes to stderr.

    Example: sudo writeamp trace record /dev/nvme0n1p2 --files / --out t.parquet --for 10m
    """
    if plot is not None:
        check_target(plot)
        check_distinct([plot, out])
    from writeamp.differences.budgets import verdicts_of  # noqa: PLC0415 (slow)
    from writeamp.recorder import functions  # noqa: PLC0415 (slow)

    rated_tbw = _rated_tbw(device, budgets)
    if command:
        budgets.require_period()
    with Bar("recording", lambda done, _: f"{done:,} requests") as bar:
        result = functions.record(
            device,
            out,
            run=command or None,
            replace=force,
            stdout=_STDERR if json else None,
            progress=_with_first_line(device, bar.update, has_command=bool(command)),
            warn=options.warn,
            **vars(settings),
        )
    for sentence in result.notes:
        options.note(sentence)
    verdicts = verdicts_of(
        budgets,
        result.host_bytes,
        duration_s=None if command else result.duration_s,
        rated_tbw=rated_tbw,
    )
    document = result.to_dict() | {"budgets": [each.to_dict() for each in verdicts]}
    options.show(lambda: document, result.card, json=json, figure=result.figure)
    if not json and result.next_command is not None:
        # The command is printed in one long line, so that it can be copied.
        stdout.print(f"next: {result.next_command}", highlight=False, soft_wrap=True)
    if plot is not None:
        if result.host_bytes:
            result.plot(plot)
        else:
            options.warn(f"nothing was written, so {plot} was not drawn")
    if result.interrupted_by is not None:
        boundary.end_as_interrupted(
            result.interrupted_by, "the trace has the requests until the interruption"
        )
    if result.run_exit_status:
        boundary.say(f"the command failed with status {result.run_exit_status}")
        raise typer.Exit(_COMMAND_FAILED)
    failures = [each.sentence for each in verdicts if not each.holds]
    if result.failure is not None and not settings.allow_loss:
        failures.insert(0, result.failure)
    if failures:
        for sentence in failures:
            boundary.say(sentence)
        raise typer.Exit(_NOT_MET)


def _rated_tbw(device: str, budgets: HostBudgetSettings) -> float | None:
    """Return the rated TBW of the device's model, if a budget needs it.

    Raises:
        WriteampError: the model has no rating, and the budgets have none.
    """
    if budgets.min_years is None:
        return None
    from writeamp.recorder.functions import recorded_disk  # noqa: PLC0415 (slow)

    disk = recorded_disk(device)
    budgets.require_rating(disk.rated_tbw, disk.model)
    return disk.rated_tbw


def _with_first_line(
    device: str, update: Callable[[int, int], None], *, has_command: bool
) -> Callable[[int, int], None]:
    """Return a progress function that prints when recording begins, if there is no bar."""
    has_begun = stderr.is_terminal

    def show(done: int, expected: int) -> None:
        nonlocal has_begun
        if not has_begun:
            boundary.say(f"recording {device}{'' if has_command else '; Ctrl-C ends it'}")
            has_begun = True
        update(done, expected)

    return show
