"""`writeamp top`: a virtual SSD, watched while it serves."""

from __future__ import annotations

import os
import select
import sys
import termios
import tty
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
from writeamp.text import printable
from writeamp.units.byte_sizes import shown_bytes
from writeamp.vssd.control import SUFFIX, Control
from writeamp.vssd.live import LiveReading, Recent, binned, erase_counts, valid_pages
from writeamp.vssd.signals import HeldSignals, held_signals

_PERIOD_S = 1.0
_BINS = 8
_HISTOGRAM_COLUMNS = 28  # two side by side in 60
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_UNITS = ("B", "kB", "MB", "GB", "TB", "PB")
# Of more causes than this, the least are shown together: a terminal has 24 lines.
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
    """Add the verb."""
    app.command("top")(without_report(top))


def top(
    socket: Annotated[
        Path,
        typer.Argument(
            help="The NBD socket of `serve`, or the control socket beside it.",
            metavar="SOCKET",
            show_default=False,
        ),
    ],
    *,
    once: Annotated[bool, typer.Option("--once", help="Print it once and end.")] = False,
    json: options.Json = False,
) -> None:
    """Watch a virtual SSD: its write amplification (WA), what its blocks hold, and their wear.

    Press q or Ctrl-C to end. Where the output is no terminal, it is printed once.

    Example: writeamp top vssd.sock
    """
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
        raise WriteampError(f"{str(socket)!r} is no socket; give the NBD socket of `serve`")
    return socket if socket.name.endswith(SUFFIX) else socket.with_name(socket.name + SUFFIX)


def _watch(control: Control, reading: LiveReading) -> None:
    """Show the drive until somebody ends it or it is gone, and leave what was last seen."""
    recent = Recent()
    console = Terminal()
    view = _screen(control.path, reading, recent.add(reading))
    _fit(console)
    # A signal amid the drawing would leave the terminal as no shell can use it.
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
            options.note(f"{gone}; this is what was last seen")
        stdout.print(view)


def _is_ended(signals: HeldSignals, keyboard: int | None) -> bool:
    """Wait for the next reading, and return whether a signal or the key q came instead."""
    keyboards = [] if keyboard is None else [keyboard]
    signals.wait(keyboards, _PERIOD_S)
    if signals.take() is not None:
        return True
    ready, _, _ = select.select(keyboards, [], [], 0)
    return any(_has_q(one) for one in ready)


def _has_q(keyboard: int) -> bool:
    try:
        keys = os.read(keyboard, 64)
    except OSError:
        keys = b""
    return not keys or b"q" in keys.lower()  # without any, the terminal is gone


def _fit(console: Terminal) -> None:
    """Draw for the terminal as large as it is now; what the environment says is for help."""
    console.size = os.get_terminal_size(sys.stdout.fileno())


@contextmanager
def _keys() -> Iterator[int | None]:
    """Hear single keys, if there is a keyboard, and leave the terminal as it was."""
    if not sys.stdin.isatty():
        yield None
        return
    keyboard = sys.stdin.fileno()
    before = termios.tcgetattr(keyboard)
    tty.setcbreak(keyboard)
    try:
        yield keyboard
    finally:
        termios.tcsetattr(keyboard, termios.TCSADRAIN, before)


def _screen(path: Path, reading: LiveReading, earlier: LiveReading) -> RenderableType:
    """Return all that is shown, in 60 columns and 24 lines; rates are those since `earlier`."""
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
        _histogram("valid pages of blocks", valid_pages(blocks)),
        _histogram("erases of a block", erase_counts(blocks)),
    )
    return Group(
        head, _wa(reading, earlier), _traffic(reading, earlier), _space(reading), histograms
    )


def _wa(reading: LiveReading, earlier: LiveReading) -> Text:
    found = Text.assemble("WA ", (_shown_wa(reading.wa), "bold"), " since counting began")
    seconds = reading.seconds_after(earlier)
    if seconds > 0:
        found.append(f", {_shown_wa(reading.wa_after(earlier))} in {seconds:.0f} s")
    return found.append(f", {_shown_wa(reading.wa_life)} in life")


def _shown_wa(wa: float | None) -> str:
    return "–" if wa is None else f"{wa:.3f}"


def _traffic(reading: LiveReading, earlier: LiveReading) -> Table:
    """Return bytes of the flash by cause and those of the host, in life and a second."""
    found = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    found.add_column("")
    found.add_column("in life", justify="right", no_wrap=True)
    found.add_column("a second", justify="right", no_wrap=True)
    seconds = reading.seconds_after(earlier)
    for label, now, before in _amounts(reading, earlier):
        rate = _shown_size((now - before) / seconds) if seconds > 0 else "–"
        found.add_row(label, _shown_size(now), rate)
    return found


def _amounts(reading: LiveReading, earlier: LiveReading) -> Iterator[tuple[str, int, int]]:
    """Return name, bytes now and bytes before of each amount."""
    now, before = reading.counters, earlier.counters
    page_bytes = now["page_bytes"]
    shown = [one for one in TIMED_CAUSES if now["programs"].get(one, 0) or one == "host"]
    least = sorted(shown[1:], key=lambda one: now["programs"][one])
    others = set(least[: len(shown) - _MOST_CAUSES + 1]) if len(shown) > _MOST_CAUSES else set()
    for label, causes in [
        *((_CAUSE_LABELS.get(one, one), {one}) for one in shown if one not in others),
        ("other causes", others),
    ]:
        if causes:
            pages = [sum(at["programs"].get(one, 0) for one in causes) for at in (now, before)]
            yield f"programmed: {label}", pages[0] * page_bytes, pages[1] * page_bytes
    for label, key in (("written", "written"), ("read", "read"), ("trimmed", "trimmed")):
        yield f"host {label}", now["host"][f"{key}_bytes"], before["host"][f"{key}_bytes"]


def _space(reading: LiveReading) -> Text:
    counters = reading.counters
    share = counters["mapped_pages"] / counters["logical_pages"]
    return Text(
        f"{share:.1%} full, {reading.blocks['free_blocks']:,} blocks free, "
        f"{counters['erases']:,} erases\n"
    )


def _histogram(title: str, counts: dict[int, int]) -> Table:
    found = Table(
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
        found.add_row(Text(label, justify="right"), _bar(count, most, columns), number)
    return found


def _bar(count: int, most: int, columns: int) -> Text:
    eighths = round(8 * columns * count / max(most, 1))
    if count > 0:
        eighths = max(eighths, 1)  # a few are not none
    whole, part = divmod(eighths, 8)
    bar = _EIGHTHS[8] * whole + (_EIGHTHS[part] if part else "")
    return Text(bar.ljust(columns), style="cyan", no_wrap=True)


def _shown_size(size: float) -> str:
    """Return bytes in the unit that leaves at most three digits before the point."""
    power = 0
    while size >= 999.5 and power < len(_UNITS) - 1:
        size /= 1000
        power += 1
    return f"{size:.0f} {_UNITS[power]}" if power == 0 else f"{size:.3g} {_UNITS[power]}"
