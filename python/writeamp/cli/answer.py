"""`writeamp answer`: WA from theory, simulation, a virtual and a real drive, compared."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from writeamp.answers.settings import QuestionSettings
from writeamp.cli import boundary, options
from writeamp.cli.experiment_options import register_experiment
from writeamp.cli.options import stdout
from writeamp.cli.progress_bar import Bar
from writeamp.cli.report_option import is_reported
from writeamp.cli.setting_options import with_settings
from writeamp.plots import check_target
from writeamp.reports.headlines.headline import headline
from writeamp.settings.experiment import Experiment
from writeamp.text import printable

if TYPE_CHECKING:
    from writeamp.answers.result import Answer
    from writeamp.answers.way import WayRow
    from writeamp.results.card import Card

# Settings of `simulate` without an option here: they apply to timed runs only, or change the form
# of the result.
_WITHOUT = (
    *("time", "timed", "host_bytes", "time_scale", "spread"),
    *("rb_capture", "rb_rate", "rb_jitter", "rb_missed"),
)
# Widths of the columns of names, numbers, confidence intervals and other intervals. The remarks
# follow these columns; on a narrow terminal they are printed below the row.
_NAME, _NUMBER, _CI, _OTHER = 30, 7, 16, 23
_LEAST_TEXT = 30
# Keys of an answer that rows alone do not have; the headline needs them.
_OF_ANSWER: dict[str, Any] = {"differences": [], "advice": []}
_BELOW: dict[str, Any] = {"initial_indent": "    ", "subsequent_indent": "    "}


def register(app: typer.Typer) -> None:
    """Add the subcommand to the command line."""
    register_experiment(app, with_settings(answer), verb="simulate", without=_WITHOUT)


def answer(
    experiment: Experiment,
    *,
    question: QuestionSettings,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            help="Draw the WA and interval of each row (.png, .svg, .pdf or .html).",
            metavar="FILE",
        ),
    ] = None,
    json: options.Json = False,
) -> None:
    """Compare the WA from theory, simulation, virtual and real drives, and explain differences.

    The table has a row for each source: formulas, a simulation, a timed simulation, a virtual
    drive, and the counters of a real drive. Each difference is measured: writeamp changes one thing
    and runs again. The last table shows how to reduce WA.

    Example: writeamp answer --workload zipf:s=0.99 --device tlc-datacenter --size 512MiB

    Example: writeamp answer --trace disk.csv --op 0.10 --counters before.json --counters after.json
    """
    if plot is not None:
        check_target(plot)
    from writeamp.answers.answering import Listener  # noqa: PLC0415 (slow)
    from writeamp.answers.functions import answer_of  # noqa: PLC0415 (slow)

    # A page or picture is written even if the program that reads the output has closed the pipe.
    is_kept = plot is not None or is_reported()
    printer = RowPrinter()

    def print_row(row: WayRow) -> None:
        with suppress(BrokenPipeError) if is_kept else nullcontext():
            printer.row(row)

    with _Bars() as bars:
        listener = Listener(
            row=lambda row: None if json else bars.between(lambda: print_row(row)),
            part=bars.step,
            progress=bars.progress,
        )
        result = options.finished_part(lambda: answer_of(experiment, question, listener))
    for sentence in result.notes:
        options.note(sentence)
    try:
        options.show(
            result.to_dict,
            result.card,
            beside=result.beside,
            json=json,
            print_tables=lambda card: _print_reasons(result, card, printer, question.quick),
            is_headed=True,
        )
    finally:
        if plot is not None and not result.unfinished:
            result.plot(plot)
    if result.unfinished:
        raise boundary.PartlyDone(f"not finished: {', '.join(result.unfinished)}")


def _print_reasons(result: Answer, card: Card, printer: RowPrinter, is_quick: bool) -> None:
    printer.end()
    for table in card.parts:
        stdout.print("")
        options.print_part(table)
    # The headline of the whole result has more than that of the first rows: the best change.
    whole = headline(result.to_dict())
    if whole != printer.headline:
        stdout.print("")
        stdout.print(options.heading(whole.removeprefix(printer.headline).strip()))
    # --quick may leave out the changes, and without a drive there is nothing to change.
    is_tried = not (is_quick or result.unfinished or result.device is None)
    if is_tried and not result.advice:
        stdout.print("No change that was tried reduces WA.")


class RowPrinter:
    """Printer of the headline and of rows, in columns of fixed width.

    The headline needs the simulation, so earlier rows are printed after it.
    """

    def __init__(self) -> None:
        """Begin before the first row."""
        self.headline = ""
        self._rows: list[WayRow] = []
        self._printed = 0

    def row(self, row: WayRow) -> None:
        """Print the rows so far if the simulation is among them."""
        self._rows.append(row)
        if any(earlier.kind == "simulate" for earlier in self._rows):
            self.end()

    def end(self) -> None:
        """Print the rows that are not yet printed."""
        from writeamp.answers.way import table_of  # noqa: PLC0415 (slow)

        columns, lines = table_of(self._rows)
        if not self._printed and lines:
            document = {"rows": [row.to_dict() for row in self._rows]} | _OF_ANSWER
            self.headline = headline(document)
            options.print_headline(document)
            stdout.print("")
            names = [name.removeprefix(">") for name in columns[:-1]]
            stdout.print(Text(_aligned(names, columns), style="bold"))
        for *cells, remark in lines[self._printed :]:
            _print_line(_aligned(cells, columns), remark)
        self._printed = len(lines)


def _aligned(cells: Sequence[str], columns: Sequence[str]) -> str:
    name, *others = cells
    texts = [f"{name:<{_NAME}}"]
    for cell, column in zip(others, columns[1:], strict=False):
        is_number = column.startswith(">")
        width = (
            max(_NUMBER, len(column) - 1) if is_number else _OTHER if column == "interval" else _CI
        )
        texts.append(f"{cell:>{width}}" if is_number else f"{cell:<{width}}")
    return "  ".join(texts)


def _print_line(line: str, remark: str) -> None:
    """Print a row, with its remark beside or below it."""
    beside = stdout.width - len(line) - 2
    if beside >= _LEAST_TEXT:
        first, *rest = textwrap.wrap(remark, beside)
        lines = [f"{line}  {first}", *(" " * (len(line) + 2) + more for more in rest)]
    else:
        lines = [line, *textwrap.wrap(remark, stdout.width, **_BELOW)]
    for text in lines:
        stdout.print(Text(printable(text)), soft_wrap=True)


class _Bars:
    """Progress bars, one for each step, removed while a row is printed."""

    def __init__(self) -> None:
        self._step = ""
        self._bar: Bar | None = None

    def __enter__(self) -> _Bars:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def step(self, step: str) -> None:
        self._end()
        self._step = step

    def progress(self, done: int, of: int) -> None:
        if self._bar is None:
            self._bar = Bar(self._step, lambda done, of: f"{min(done / of, 1):.0%}" if of else "")
            self._bar.__enter__()
        self._bar.update(done, of)

    def between(self, show: Callable[[], None]) -> None:
        self._end()
        show()

    def _end(self) -> None:
        if self._bar is not None:
            self._bar.__exit__()
        self._bar = None
