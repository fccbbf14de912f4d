"""`writeamp answer`: one question answered by every way, and why the answers differ."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from writeamp.answers.settings import QuestionSettings
from writeamp.cli import boundary, options
from writeamp.cli.experiment_options import register_experiment
from writeamp.cli.options import stdout
from writeamp.cli.progress_bar import Bar
from writeamp.cli.setting_options import with_settings
from writeamp.plots import check_target
from writeamp.settings.experiment import Experiment
from writeamp.text import printable

if TYPE_CHECKING:
    from writeamp.answers.result import Answer
    from writeamp.answers.way import WayRow

# Settings of `simulate` that are of one timed run, or of one that is reported in another form.
_WITHOUT = (
    *("time", "timed", "host_bytes", "time_scale", "spread", "capacity"),
    *("rb_capture", "rb_rate", "rb_jitter", "rb_missed"),
)
# Columns of a row before its words; on a narrow terminal these stand below it.
_ROW = "{:<31} {:>7}  {:<16} {:>7}"
_LEAST_WORDS = 30
_BELOW: dict[str, Any] = {"initial_indent": "    ", "subsequent_indent": "    "}


def register(app: typer.Typer) -> None:
    """Add the verb."""
    register_experiment(app, with_settings(answer), verb="simulate", without=_WITHOUT)


def answer(
    experiment: Experiment,
    *,
    asked: QuestionSettings,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            help="Draw a dot with its interval for each way, to a .png, .svg, .pdf or .html file.",
        ),
    ] = None,
    json: options.Json = False,
) -> None:
    """Answer by every way how much a drive amplifies writes (WA), and why the answers differ.

    Formulas, a simulation, one in virtual time, a virtual drive and a real drive's counters stand
    in one table; differences are measured by switching one thing at a time.

    Example: writeamp answer --workload zipf:s=0.99 --device tlc-datacenter --size 512MiB

    Example: writeamp answer --trace disk.csv --op 0.10 --counters before.json --counters after.json
    """
    if plot is not None:
        check_target(plot)
    from writeamp.answers.answering import Listener  # noqa: PLC0415 (slow)
    from writeamp.answers.functions import answer_of  # noqa: PLC0415 (slow)

    printer = RowPrinter()
    with _Bars() as bars:
        listener = Listener(
            row=lambda row: None if json else bars.between(lambda: printer.row(row)),
            part=bars.part,
            progress=bars.progress,
        )
        found = options.whole_or_part(lambda: answer_of(experiment, asked, listener))
    for sentence in found.notes:
        options.note(sentence)
    try:
        if not options.printed_json(found.to_dict, found.beside, json=json):
            _print_reasons(found)
    finally:
        if plot is not None and not found.unfinished:
            found.plot(plot)
    if found.unfinished:
        raise boundary.PartlyDone(f"not finished: {', '.join(found.unfinished)}")


def _print_reasons(found: Answer) -> None:
    for part in found.card().parts:
        stdout.print("")
        options.print_part(part)
    if not (found.advice or found.unfinished):
        stdout.print("nothing that was tried would make it less")


class RowPrinter:
    """Printer of rows one by one, in columns that fit all of them."""

    def __init__(self) -> None:
        """Print nothing yet."""
        self._is_first = True

    def row(self, row: WayRow) -> None:
        """Print a row, below the names of the columns if it is the first."""
        if self._is_first:
            names = [name.removeprefix(">") for name in row.COLUMNS[:-1]]
            stdout.print(Text(_ROW.format(*names), style="bold"))
            self._is_first = False
        *cells, words = row.cells
        line = _ROW.format(*cells)
        beside = stdout.width - len(line) - 2
        if beside >= _LEAST_WORDS:
            first, *rest = textwrap.wrap(words, beside)
            lines = [f"{line}  {first}", *(" " * (len(line) + 2) + one for one in rest)]
        else:
            lines = [line, *textwrap.wrap(words, stdout.width, **_BELOW)]
        for one in lines:
            stdout.print(Text(printable(one)), soft_wrap=True)


class _Bars:
    """Progress bars, one for each part, which make room for what is printed between."""

    def __init__(self) -> None:
        self._what = ""
        self._bar: Bar | None = None

    def __enter__(self) -> _Bars:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def part(self, what: str) -> None:
        self._end()
        self._what = what

    def progress(self, done: int, of: int) -> None:
        if self._bar is None:
            self._bar = Bar(self._what, lambda done, of: f"{min(done / of, 1):.0%}" if of else "")
            self._bar.__enter__()
        self._bar.update(done, of)

    def between(self, show: Callable[[], None]) -> None:
        self._end()
        show()

    def _end(self) -> None:
        if self._bar is not None:
            self._bar.__exit__()
        self._bar = None
