"""Options and output that several subcommands share."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from glob import escape, glob
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol, TypeAlias, TypeVar

import typer
from rich.table import Table
from rich.text import Text

from writeamp import custom
from writeamp.cli import boundary
from writeamp.cli.findings import with_findings
from writeamp.cli.notes import note as note  # noqa: PLC0414 (also from here)
from writeamp.cli.report_option import for_report
from writeamp.cli.terminal import Terminal
from writeamp.errors import Interrupted, WriteampError
from writeamp.fields.domains import ratio_of, shown
from writeamp.files.inputs import is_address
from writeamp.registry.entries import EngineKind
from writeamp.results.frames import csv_of
from writeamp.text import printable

if TYPE_CHECKING:
    import polars as pl

    from writeamp.plots.spec import FigureSpec
    from writeamp.results.card import Card

_T = TypeVar("_T")

# Maximum number of failed runs of a study whose errors are printed.
MOST_ERRORS = 5

CAPACITY = "Drive (give one size and one ratio; default 8192 blocks of 128 pages, op 0.28)"


def file(text: str) -> Path | str:
    """Return a path, or the text of an address, because a path would shorten s3://… to s3:/…"""
    return text if is_address(text) else Path(text)


def count(text: str) -> int:
    """Parse a whole number; it may be written as 1e6 or 1_000_000."""
    try:
        return int(_ascii(text))
    except ValueError:
        pass
    try:
        value = float(_ascii(text))
    except ValueError:
        value = float("nan")
    if not value.is_integer():
        raise typer.BadParameter(f"{shown(text)} is not a whole number such as 1000000 or 1e6")
    return int(value)


def _ascii(text: str) -> str:
    """Return a text if it is ASCII, because Python would also read digits of other alphabets.

    typer also passes an option's default, which is a number and is returned unchanged.

    Raises:
        ValueError: the text has other characters.
    """
    if isinstance(text, str) and not text.isascii():
        raise ValueError(text)
    return text


def number(text: str) -> float:
    """Parse a number."""
    try:
        return float(_ascii(text))
    except ValueError:
        raise typer.BadParameter(f"{shown(text)} is not a number such as 0.5 or 1e6") from None


def ratio(text: str) -> float:
    """Parse a ratio: a number or a percentage."""
    value = ratio_of(text)
    # Each setting rejects nan and infinity itself.
    is_other_text = text.lower().lstrip("+-") not in {"nan", "inf", "infinity"}
    if math.isnan(value) and is_other_text:
        raise typer.BadParameter(
            f"{shown(text)} is not a number such as 0.15, or a percentage such as 15% (without a "
            "space)"
        )
    return value


def completer(names: Sequence[str]) -> Callable[[str], list[str]]:
    """Return a function that completes one of these words in a shell."""

    def complete(incomplete: str) -> list[str]:
        return [name for name in names if name.startswith(incomplete)]

    return complete


def policy_completer(kind: EngineKind, examples: Sequence[str]) -> Callable[[str], list[str]]:
    """Return a function that completes policies in a shell: built-in, installed or in files."""

    def complete(incomplete: str) -> list[str]:
        file, is_class, _ = incomplete.rpartition(":")
        if is_class and file.endswith(".py"):
            names = [f"{file}:{name}" for name in custom.classes_in(file)]
        else:
            installed = [
                name for of in custom.KINDS if of == kind for name in custom.known_names(of)
            ]
            names = [*examples, *installed, *(_files(incomplete) if incomplete else [])]
        return [name for name in names if name.startswith(incomplete)]

    return complete


def _files(incomplete: str) -> list[str]:
    """Return the folders (with "/") and Python files (with ":") whose path begins with a text."""
    try:
        paths = sorted(glob(f"{escape(incomplete)}*"))
    except (OSError, ValueError):
        return []
    return [
        f"{path}/" if os.path.isdir(path) else f"{path}:"
        for path in paths
        if os.path.isdir(path) or path.endswith(".py")
    ]


def _one_form(context: typer.Context, parameter: typer.CallbackParam, is_asked: bool) -> bool:
    """Reject a second output format (such as --json and --csv) before the run."""
    if is_asked:
        forms = context.meta.setdefault("writeamp.forms", [])
        forms.append(parameter.opts[0])
        if len(forms) > 1:
            raise WriteampError(f"{' and '.join(forms)} exclude each other; give only one")
    return is_asked


Json: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print the result as one JSON document.", callback=_one_form)
]
Csv: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--csv",
        help="Print the result as CSV. Its columns are the keys of --json; nested keys are joined "
        "by _.",
        callback=_one_form,
    ),
]


Keep: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--keep",
        help="Store each finished run in this folder. The same command with the same folder "
        "later runs only the missing runs.",
        metavar="DIR",
    ),
]


stdout = Terminal()
stderr = Terminal(stderr=True)


def print_json(document: Any) -> None:
    """Print one JSON document; numbers keep full double precision."""
    # The document is encoded completely before it is written, so that an invalid value does not
    # leave half of it.
    sys.stdout.write(json.dumps(document, allow_nan=False) + "\n")


def show(
    document: Callable[[], Any],
    card: Callable[[], Card],
    *,
    json: bool,
    csv: bool = False,
    frame: Callable[[], pl.DataFrame] | None = None,
    beside: Callable[[], dict[str, Any]] | None = None,
    print_tables: Callable[[Card], None] | None = None,
    is_headed: bool = False,
    figure: Callable[[], FigureSpec] | None = None,
) -> None:
    """Print a result as JSON or CSV, or its headline and tables; register it for `--report`.

    Args:
        document: returns the JSON document, from which the headline is made; findings of the
            doctor are added.
        card: returns the tables.
        json, csv: whether to print only the document or the frame.
        frame: returns the frame for CSV.
        beside: returns the data that the report page draws in addition to the document.
        print_tables: prints the card; by default `print_card`.
        is_headed: whether the headline was printed before the result was complete.
        figure: returns the picture of the result, for the report page.
    """
    complete, card = cache(lambda: with_findings(document())), cache(card)
    for_report(complete, card, beside, figure)
    if json:
        print_json(complete())
    elif csv:
        assert frame is not None
        print_csv(frame())
    else:
        print_headline({} if is_headed else complete())
        (print_tables or print_card)(card())


def print_headline(document: Any) -> None:
    """Print the sentence that answers the question, if the document has an answer."""
    from writeamp.reports.headlines.headline import headline  # noqa: PLC0415 (not for help)

    if sentence := headline(document):
        stdout.print(heading(sentence))


def print_csv(frame: pl.DataFrame) -> None:
    """Print a table as CSV; numbers keep full precision, and unknown values are empty."""
    sys.stdout.write(csv_of(frame))


def warn(sentence: str) -> None:
    """Print a warning on stderr: a reason why the result may be wrong or misleading."""
    boundary.say(f"warning: {sentence}")


class ShownResult(Protocol):
    """Interface of the results that `show_result` prints and draws."""

    @property
    def notes(self) -> Sequence[str]:
        """Sentences on assumptions, omissions and rounding, in order of importance."""

    @property
    def warnings(self) -> Sequence[str]:
        """Sentences on what may be wrong or misleading."""

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON types."""

    def card(self) -> Card:
        """Return the tables of the result."""

    def beside(self) -> dict[str, Any]:
        """Return the data that a report page draws and that `to_dict` does not have."""

    def to_frame(self) -> pl.DataFrame:
        """Return the result as a data frame."""

    def figure(self) -> FigureSpec:
        """Return the specification of the result's picture."""

    def plot(self, path: Path) -> object:
        """Draw the result to a file."""


def show_result(
    result: ShownResult,
    *,
    json: bool,
    csv: bool,
    plot: Path | None,
    card: Callable[[], Card] | None = None,
    document: Callable[[], Any] | None = None,
    frame: Callable[[], pl.DataFrame] | None = None,
    print_tables: Callable[[Card], None] | None = None,
) -> None:
    """Print warnings and notes, then the result (see `show`), and save the plot.

    Args:
        result: the result.
        plot: path of the picture to save, if any.
        json, csv, card, document, frame, print_tables: as in `show`; by default, the functions
            are those of `result`.
    """
    for sentence in result.warnings:
        warn(sentence)
    for sentence in result.notes:
        note(sentence)
    try:
        show(
            document or result.to_dict,
            card or result.card,
            json=json,
            csv=csv,
            frame=frame or result.to_frame,
            beside=result.beside,
            print_tables=print_tables,
            figure=result.figure,
        )
    finally:
        # The picture is saved even if the program that reads the output has closed the pipe.
        if plot is not None:
            result.plot(plot)


def finished_part(work: Callable[[], _T]) -> _T:
    """Return the result of the work; after Ctrl-C, return its finished part.

    Raises:
        Interrupted: Ctrl-C before any part was finished (a `KeyboardInterrupt`).
    """
    try:
        return work()
    except Interrupted as stopped:
        if stopped.finished is None:
            raise
        # The finished part has the same type as the whole result (see `Interrupted`).
        return stopped.finished  # type: ignore[no-any-return]


def heading(text: str) -> Text:
    """Return the heading above several tables."""
    return Text(printable(text), style="bold")


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str | Text]]) -> Table:
    """Build a table; columns whose name begins with '>' are right-aligned.

    Column names must be texts of writeamp, since their line breaks are printed.
    """
    made = Table(title=title, title_justify="left", title_style="bold")
    return _filled(made, columns, rows)


def _filled(made: Table, columns: Sequence[str], rows: Iterable[Sequence[str | Text]]) -> Table:
    """Add columns and rows to a table; cells of columns whose name begins with '>' stay whole."""
    for column in columns:
        is_number = column.startswith(">")
        made.add_column(
            Text(column.removeprefix(">")),
            justify="right" if is_number else "left",
            no_wrap=is_number,
            overflow="fold",
        )
    for row in rows:
        made.add_row(*row)
    return made


def print_card(card: Card, *, most_rows: int | None = None) -> None:
    """Print the tables of a card. A card without column names is a table of names and values.

    The caller prints the notes of the card itself, usually on stderr.

    Args:
        card: the card.
        most_rows: maximum number of rows to print of each table. A line below a longer table states
            how many rows were left out.
    """
    _print_table(card, most_rows)
    for part_card in card.parts:
        print_part(part_card, most_rows=most_rows)
    for line in card.legend:
        stdout.print(line)


def print_part(card: Card, *, most_rows: int | None = None) -> None:
    """Print a card that is a section of another card, and its notes."""
    _print_table(card, most_rows)
    for sentence in card.notes:
        stdout.print(sentence)


def _print_table(card: Card, most_rows: int | None) -> None:
    rows = card.rows[:most_rows]
    if not rows and (card.parts or not card.columns):
        stdout.print(Text(printable(card.title, keep="\n")))
    elif not card.columns:
        stdout.print(facts(rows))
    elif card.is_ruled:
        stdout.print(table(card.title, card.columns, rows))
    else:
        stdout.print(bare_table(card.columns, rows))
    if len(card.rows) > len(rows):
        stdout.print(f"{len(card.rows) - len(rows):,} more rows are in the output of --json")


def bare_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """Build a table without lines; columns whose name begins with '>' are right-aligned."""
    return _filled(Table(box=None, pad_edge=False, header_style="bold"), columns, rows)


def facts(rows: Sequence[Sequence[str]]) -> Table:
    """Build a table of names and values."""
    return _filled(Table(show_header=False), ("", ""), rows)
