"""`writeamp live`: writers of a disk now, and their cost."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.live import Live
from rich.text import Text

from writeamp.cli import options
from writeamp.cli.application import App
from writeamp.cli.options import stdout
from writeamp.cli.progress_bar import Bar
from writeamp.cli.setting_options import with_settings
from writeamp.cli.terminal import Terminal
from writeamp.drives.live.settings import LiveSettings
from writeamp.machine.signals import HeldSignals, held_signals
from writeamp.plots import check_target
from writeamp.system import require_linux

if TYPE_CHECKING:
    from writeamp.drives.live.result import LiveWear

# Time of a recording with --once, in seconds, and time between two estimates of WA.
_ONCE_S, _BETWEEN_ESTIMATES_S = 60.0, 30.0
_LOOK_S = 0.5
# Most rows of a table of the view.
_MOST_ROWS = 6


def register(app: App) -> None:
    """Add the command `live` to the program."""
    app.command("live")(with_settings(live))


def live(
    device: Annotated[
        str,
        typer.Argument(
            help="Disk or partition to watch, such as /dev/nvme0n1p2. It is not written.",
            metavar="DEVICE",
            show_default=False,
        ),
    ],
    settings: LiveSettings,
    *,
    once: Annotated[
        bool, typer.Option("--once", help="Print the result once, at the end of --for.")
    ] = False,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            help="Draw the writers and the flash writes as bars (.png, .svg, .pdf or .html).",
            metavar="FILE",
        ),
    ] = None,
    json: options.Json = False,
) -> None:
    """Show the writers of a disk now, and their cost: WA, GB a day, years (Linux, root).

    WA is that of a simulated drive of the same capacity, which gets a sample of the writes. Its
    interval has the drive's possible states: op, free space, and addresses. Years are those in
    which the host writes the rated TBW.

    If the output is not a terminal, the result is printed once, after --for.

    Example: sudo writeamp live /dev/nvme0n1p2 --files / --once --for 60s
    """
    require_linux("a recording")
    if plot is not None:
        check_target(plot)
    is_once = once or json or not stdout.is_terminal
    result = _recorded(device, settings) if is_once else _watched(device, settings)
    for note in result.notes:
        options.note(note)
    options.show(result.to_dict, result.card, json=json, figure=result.figure)
    if plot is not None:
        result.plot(plot)


def _recorded(device: str, settings: LiveSettings) -> LiveWear:
    """Return the result of a recording of --for."""
    from writeamp.drives.live.session import LiveRecording  # noqa: PLC0415 (slow)

    duration_s = settings.duration_s or _ONCE_S
    with held_signals() as signals, LiveRecording(device, settings, signals.check) as recording:
        with Bar("watching", lambda done, whole: f"{done} of {whole} s") as bar:
            end_s = time.monotonic() + duration_s
            while (left_s := end_s - time.monotonic()) > 0 and signals.take() is None:
                recording.check()
                bar.update(round(duration_s - left_s), round(duration_s))
                signals.wait([], min(left_s, _LOOK_S))
        recording.stop()
        return recording.reading()


def _watched(device: str, settings: LiveSettings) -> LiveWear:
    """Show the disk until the end; return the last state."""
    from writeamp.drives.live.session import LiveRecording  # noqa: PLC0415 (slow)

    with held_signals() as signals, LiveRecording(device, settings, signals.check) as recording:
        end_s = time.monotonic() + (settings.duration_s or float("inf"))
        estimated_s = -float("inf")
        view = Text("recording; Ctrl-C ends it")
        with Live(view, console=Terminal(), screen=True, auto_refresh=False) as screen:
            while time.monotonic() < end_s and not _is_ended(signals, settings.every):
                is_full = time.monotonic() - estimated_s > _BETWEEN_ESTIMATES_S
                result = recording.reading(is_full=is_full)
                if is_full and result.estimate is not None:
                    estimated_s = time.monotonic()
                screen.update(_view(result), refresh=True)
        recording.stop()
        return recording.reading()


def _view(result: LiveWear) -> Text:
    with stdout.capture() as captured:
        options.print_headline(result.to_dict())
        options.print_card(result.card(), most_rows=_MOST_ROWS)
    return Text.from_ansi(captured.get())


def _is_ended(signals: HeldSignals, period_s: float) -> bool:
    """Wait for the next update; return whether a signal came first."""
    signals.wait([], period_s)
    return signals.take() is not None
