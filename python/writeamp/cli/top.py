"""`writeamp top`: live view of a virtual SSD."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from writeamp._engine import TIMED_CAUSES
from writeamp.cli import options
from writeamp.cli.options import stdout
from writeamp.cli.report_option import without_report
from writeamp.cli.terminal import Terminal
from writeamp.errors import WriteampError
from writeamp.machine.signals import HeldSignals, held_signals
from writeamp.system import require_linux
from writeamp.text import printable
from writeamp.units.byte_sizes import shown_bytes
from writeamp.vssd.control import SUFFIX, Control
from writeamp.vssd.live import LiveReading, Recent, binned, erase_counts, valid_pages

_PERIOD_S = 1.0
_BINS = 8
_HISTOGRAM_COLUMNS = 28  # two histograms fit side by side in 60 columns
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_UNITS = ("B", "kB", "MB", "GB", "TB", "PB")
# Maximum number of causes that are shown. The others are summed, so that the view has at most 24
# lines.
_MOST_CAUSES = 7
_CAUSE_LABELS = {
    "host": "host writes",
    "gc": "garbage collection",
    "wear_leveling": "wear levelling",
    "padding": "padding",
    "read_modify_write": "read-modify-write",
    "mapping": "mapping table",
    "refresh": "refresh",
    "slc": "SLC cache",
    "folding": "folding",
}


def register(app: typer.Typer) -> None:
    """Add the subcommand to the command line."""
    app.command("top")(without_report(top))


def top(
    socket: Annotated[
        Path,
        typer.Argument(
            help="NBD socket of `serve`, or its control socket.",
            metavar="SOCKET",
            show_default=False,
        ),
    ],
    *,
    once: Annotated[bool, typer.Option("--once", help="Print the state once and end.")] = False,
    json: options.Json = False,
) -> None:
    """Watch a virtual SSD: write amplification (WA), traffic, valid pages and block wear.

    Press q or Ctrl-C to end. If the output is not a terminal, the state is printed once.

    Example: writeamp top vssd.sock
    """
    require_linux("the virtual SSD")
    control = Control(_control_path(socket))
    reading = LiveReading.of(control)
    if json:
        options.print_json(reading.to_dict())
    elif once or not stdout.is_terminal:
        stdout.print(_screen(control.path, reading, reading))
    else:
        _watch(control, reading)


def _control_path(socket: Path) -> Path:
    if not socket.name:
        raise WriteampError(f"{str(socket)!r} is not a socket; give the NBD socket of `serve`")
    return socket if socket.name.endswith(SUFFIX) else socket.with_name(socket.name + SUFFIX)


def _watch(control: Control, reading: LiveReading) -> None:
    """Show the drive until the user quits or the drive ends; then print the last state."""
    recent = Recent()
    console = Terminal()
    view = _screen(control.path, reading, recent.add(reading))
    _fit(console)
    # Signals are held back, because a signal during drawing would leave the terminal unusable.
    with held_signals() as signals:
        try:
            live = Live(view, console=console, screen=True, auto_refresh=False)
            with _keys() as keyboard, live:
                while not _is_ended(signals, keyboard):
                    reading = LiveReading.of(control)
                    view = _screen(control.path, reading, recent.add(reading))
                    _fit(console)
                    live.update(view, refresh=True)
        except WriteampError as gone:
            options.note(f"{gone}; the last state follows")
        stdout.print(view)


def _is_ended(signals: HeldSignals, keyboard: int | None) -> bool:
    """Wait for the next update; return whether a signal or the key q came first."""
    keyboards = [] if keyboard is None else [keyboard]
    signals.wait(keyboards, _PERIOD_S)
    if signals.take() is not None:
        return True
    ready, _, _ = select.select(keyboards, [], [], 0)
    return any(_has_q(terminal) for terminal in ready)


def _has_q(keyboard: int) -> bool:
    try:
        keys = os.read(keyboard, 64)
    except OSError:
        keys = b""
    return not keys or b"q" in keys.lower()  # reading no keys means that the terminal is closed


def _fit(console: Terminal) -> None:
    """Set the console to the current size of the terminal, not of environment variables."""
    console.size = os.get_terminal_size(sys.stdout.fileno())


@contextmanager
def _keys() -> Iterator[int | None]:
    """Set the terminal to read single keys, and restore it after the block.

    Yields the file number of stdin, or None if stdin is not a terminal.
    """
    if not sys.stdin.isatty():
        yield None
        return
    import termios  # noqa: PLC0415 (not on Windows)
    import tty  # noqa: PLC0415

    keyboard = sys.stdin.fileno()
    attributes = termios.tcgetattr(keyboard)
    tty.setcbreak(keyboard)
    try:
        yield keyboard
    finally:
        termios.tcsetattr(keyboard, termios.TCSADRAIN, attributes)


def _screen(path: Path, reading: LiveReading, earlier: LiveReading) -> RenderableType:
    """Return the view in 60 columns and 24 lines; rates cover the time since `earlier`."""
    counters, blocks = reading.counters, reading.blocks
    name = printable(path.name.removesuffix(SUFFIX))
    size = shown_bytes(counters["size_bytes"])
    head = Text(
        f"{name}  {size}, {counters['blocks']:,} blocks of {counters['pages_per_block']:,} pages",
        style="bold",
        no_wrap=True,
        overflow="ellipsis",
    )
    histograms = Table.grid(padding=(0, 3))
    histograms.add_row(
        _histogram("valid pages per block", valid_pages(blocks)),
        _histogram("erases per block", erase_counts(blocks)),
    )
    return Group(
        head, _wa(reading, earlier), _traffic(reading, earlier), _space(reading), histograms
    )


def _wa(reading: LiveReading, earlier: LiveReading) -> Text:
    line = Text.assemble("WA ", (_shown_wa(reading.wa), "bold"), " since counting began")
    seconds = reading.seconds_after(earlier)
    if seconds > 0:
        line.append(f", {_shown_wa(reading.wa_after(earlier))} in {seconds:.0f} s")
    return line.append(f", {_shown_wa(reading.wa_life)} over its lifetime")


def _shown_wa(wa: float | None) -> str:
    return "–" if wa is None else f"{wa:.3f}"


def _traffic(reading: LiveReading, earlier: LiveReading) -> Table:
    """Return a table of flash bytes by cause and host bytes, in total and per second."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column("")
    table.add_column("lifetime", justify="right", no_wrap=True)
    table.add_column("per second", justify="right", no_wrap=True)
    seconds = reading.seconds_after(earlier)
    for label, now, last in _amounts(reading, earlier):
        rate = _shown_size((now - last) / seconds) if seconds > 0 else "–"
        table.add_row(label, _shown_size(now), rate)
    return table


def _amounts(reading: LiveReading, earlier: LiveReading) -> Iterator[tuple[str, int, int]]:
    """Return a name, the current bytes and the earlier bytes for each row of the traffic."""
    now, last = reading.counters, earlier.counters
    page_bytes = now["page_bytes"]
    shown = [cause for cause in TIMED_CAUSES if now["programs"].get(cause, 0) or cause == "host"]
    least = sorted(shown[1:], key=lambda cause: now["programs"][cause])
    others = set(least[: len(shown) - _MOST_CAUSES + 1]) if len(shown) > _MOST_CAUSES else set()
    for label, causes in [
        *((_CAUSE_LABELS.get(cause, cause), {cause}) for cause in shown if cause not in others),
        ("other causes", others),
    ]:
        if causes:
            pages = [sum(at["programs"].get(cause, 0) for cause in causes) for at in (now, last)]
            yield f"programmed: {label}", pages[0] * page_bytes, pages[1] * page_bytes
    for label, key in (("written", "written"), ("read", "read"), ("trimmed", "trimmed")):
        yield f"host {label}", now["host"][f"{key}_bytes"], last["host"][f"{key}_bytes"]


def _space(reading: LiveReading) -> Text:
    counters = reading.counters
    share = counters["mapped_pages"] / counters["logical_pages"]
    return Text(
        f"{share:.1%} full, {reading.blocks['free_blocks']:,} blocks free, "
        f"{counters['erases']:,} erases\n"
    )


def _histogram(title: str, counts: dict[int, int]) -> Table:
    table = Table(
        box=None,
        padding=(0, 1, 0, 0),
        pad_edge=False,
        show_header=False,
        title=title,
        title_justify="left",
        title_style="",
    )
    bins = binned(counts, _BINS)
    labels = [f"{least}" if least == end else f"{least}–{end}" for least, end, _ in bins]
    numbers = [f"{count:,}" for *_, count in bins]
    columns = _HISTOGRAM_COLUMNS - max(map(len, labels)) - max(map(len, numbers)) - 2
    most = max(count for *_, count in bins)
    for label, (*_, count), number in zip(labels, bins, numbers, strict=True):
        table.add_row(Text(label, justify="right"), _bar(count, most, columns), number)
    return table


def _bar(count: int, most: int, columns: int) -> Text:
    eighths = round(8 * columns * count / max(most, 1))
    if count > 0:
        eighths = max(eighths, 1)  # at least 1, so that small counts stay visible
    whole, rest = divmod(eighths, 8)
    bar = _EIGHTHS[8] * whole + (_EIGHTHS[rest] if rest else "")
    return Text(bar.ljust(columns), style="cyan", no_wrap=True)


def _shown_size(size: float) -> str:
    """Return bytes in the unit with at most three digits before the decimal point."""
    power = 0
    while size >= 999.5 and power < len(_UNITS) - 1:
        size /= 1000
        power += 1
    return f"{size:.0f} {_UNITS[power]}" if power == 0 else f"{size:.3g} {_UNITS[power]}"
